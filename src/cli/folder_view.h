/* What a folder of photographs holds, as a table. */
#ifndef CLM_CLI_FOLDER_VIEW_H
#define CLM_CLI_FOLDER_VIEW_H

#include "clematis/data.h"

/* Prints counts and the table of classes on stdout, then warnings on stderr: at most bad_max of the
 * files left out, classes without an image in a subset. rest: where the whole list is. */
void clm__folder_view(const char *folder, const clm_data_report *report, size_t bad_max,
                      const char *rest);

#endif
