/* What the options say: the library's configurations and the program's own wishes. */
#ifndef CLM_CLI_CONFIG_H
#define CLM_CLI_CONFIG_H

#include "clematis/clematis.h"

typedef enum clm__progress_kind {
  CLM__PROGRESS_AUTO, /* a bar on a terminal, lines elsewhere */
  CLM__PROGRESS_BAR,
  CLM__PROGRESS_LINES,
  CLM__PROGRESS_JSON, /* a JSON object a line, for other programs */
  CLM__PROGRESS_NONE
} clm__progress_kind;

#define CLM__WORD_LIST_MAX 64
/* An option that may be given several times. */
typedef struct clm__word_list {
  const char *items[CLM__WORD_LIST_MAX];
  int count;
} clm__word_list;

/* Every option has its field here (opts.def). Flags are int. */
typedef struct clm__cli_config {
  clm_train_config train; /* its data and run serve the other commands too */
  clm__progress_kind progress;
  clm_subset subset;
  int crop;
  int pad;
  int top;
  int json;
  int measure;
  int images_per_class;
  uint64_t sample_seed;
  double tune_budget_seconds;
  int tune_again;
  clm_launch_config launch;
  clm__word_list launch_pools;
  clm__word_list launch_env;
  clm__word_list launch_mpi_args;
  int print;
  int validate_only;
  int expect_ranks;
  int log_all;
  const char *log_folder;
  int verbose;
  int quiet;
  int help;
  const char *config_file;
  char resume_config[4096]; /* where config_file is the resumed run's own */
  const char **arguments;   /* the words that are no options; owned */
  int argument_count;
  struct clm__kept_text *kept; /* texts of the configuration file */
} clm__cli_config;

/* The library's defaults and the program's. */
clm__cli_config clm__cli_config_default(void);
void clm__cli_config_fini(clm__cli_config *config);

/* A copy of a text that lives as long as the configuration. */
const char *clm__cli_config_keep(clm__cli_config *config, const char *text);

#endif
