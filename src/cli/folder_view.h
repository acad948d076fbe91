/* What a folder of photographs holds, as a table. */
#ifndef CLM_CLI_FOLDER_VIEW_H
#define CLM_CLI_FOLDER_VIEW_H

#include "clematis/data.h"

#include <stdbool.h>

/* Prints counts and the table of classes on stdout, then warnings on stderr: files that are left
 * out, by name where the library's log has not named them; classes without an image in a subset. */
void clm__folder_view(const char *folder, const clm_data_report *report, bool names_bad_files);

#endif
