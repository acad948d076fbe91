#include "cli/commands.h"
#include "cli/folder_view.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/text.h"

static void show_progress(void *user, size_t done, size_t count)
{
  clm__text line = {0};
  (void)user;
  clm__text_add(&line, "Reading images: %zu of %zu", done, count);
  clm__say_live(done < count ? clm__text_get(&line) : "");
  clm__text_fini(&line);
}

clm_status clm__cmd_check(clm__cli_config *config)
{
  clm_data_report *report = NULL;
  clm_data_config *data = &config->train.data;
  data->folder = config->arguments[0];
  const bool is_live =
      !config->quiet && clm__progress_settle(config->progress) == CLM__PROGRESS_BAR;
  /* Without a log: the table below names every file, not the first few. */
  const clm_status status =
      clm_data_check(data, NULL, is_live ? show_progress : NULL, NULL, &report);
  if (status != CLM_OK) return clm__say_library_error(status);
  clm__folder_view(data->folder, report, true);
  if (report->bad_count == 0) clm__say("All images can be used.");
  clm_data_report_free(report);
  return CLM_OK;
}
