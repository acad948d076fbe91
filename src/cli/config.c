#include "cli/config.h"

#include "cli/text.h"

#include <string.h>

struct clm__kept_text {
  struct clm__kept_text *next;
  char text[];
};

static clm_launch_config launch_default(void)
{
  clm_launch_config config = clm_launch_config_default();
  config.program = NULL; /* this program itself where it runs here */
  return config;
}

clm__cli_config clm__cli_config_default(void)
{
  return (clm__cli_config){
      .train = clm_train_config_default(),
      .top = 3,
      .images_per_class = 120,
      .sample_seed = 1,
      .tune_budget_seconds = clm_tune_config_default().budget_seconds,
      .launch = launch_default(),
  };
}

void clm__cli_config_fini(clm__cli_config *config)
{
  while (config->kept != NULL) {
    struct clm__kept_text *next = config->kept->next;
    clm__memory_free(config->kept);
    config->kept = next;
  }
  clm__memory_free(config->arguments);
  config->arguments = NULL;
}

const char *clm__cli_config_keep(clm__cli_config *config, const char *text)
{
  const size_t size_bytes = strlen(text) + 1;
  struct clm__kept_text *kept = clm__memory_take(1, sizeof *kept + size_bytes);
  memcpy(kept->text, text, size_bytes);
  kept->next = config->kept;
  config->kept = kept;
  return kept->text;
}
