/* A program of somebody else on the installed library: draws a data set, looks through it, and is
 * told in words what is wrong with one that does not exist. */
#include <clematis/clematis.h>

#include <stdio.h>

static int look_through(const char *folder)
{
  clm_data_config config = clm_data_config_default();
  config.folder = folder;
  clm_data_report *report = NULL;
  if (clm_data_check(&config, NULL, NULL, NULL, &report) != CLM_OK) {
    printf("%s: %s\n", clm_status_name(clm_error_last()->status), clm_error_last()->message);
    return clm_status_exit_code(clm_error_last()->status);
  }
  for (size_t i = 0; i < report->class_count; i++)
    printf("%-12s %zu for training, %zu for validation\n", report->classes[i].name,
           report->classes[i].train, report->classes[i].validation);
  const int images = (int)(report->train_count + report->validation_count);
  clm_data_report_free(report);
  return images == 15 ? 0 : 1;
}

int main(int argc, char **argv)
{
  const char *folder = argc > 1 ? argv[1] : "example flowers";
  printf("clematis %s\n", clm_version());
  if (clm_sample_draw(folder, 3, 1) != CLM_OK) {
    printf("%s\n", clm_error_last()->message);
    return 1;
  }
  if (look_through(folder) != 0) return 1;
  return look_through("no such folder") == clm_status_exit_code(CLM_NO_INPUT) ? 0 : 1;
}
