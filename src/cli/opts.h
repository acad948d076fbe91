/* The tables of commands and options, and the parser. */
#ifndef CLM_CLI_OPTS_H
#define CLM_CLI_OPTS_H

#include "cli/config.h"
#include "cli/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum clm__command_id {
#define COMMAND(name, mask, arguments, least, most, summary) CLM__COMMAND_##mask,
#include "cli/commands.def"
#undef COMMAND
  CLM__COMMAND_COUNT
} clm__command_id;

typedef struct clm__command {
  const char *name;
  const char *arguments; /* "MODEL DATA" */
  int least;
  int most; /* -1: any number */
  const char *summary;
  clm_status (*run)(clm__cli_config *config);
} clm__command;

extern const clm__command clm__commands[CLM__COMMAND_COUNT];

typedef enum clm__option_kind {
  CLM__FLAG,
  CLM__INVERSE,
  CLM__INT,
  CLM__U32,
  CLM__U64,
  CLM__BYTES,
  CLM__DOUBLE,
  CLM__CHOICE,
  CLM__WORD,
  CLM__TEXT,
  CLM__SIZE,
  CLM__LIST
} clm__option_kind;

typedef enum clm__option_group {
  CLM__GROUP_DATA,
  CLM__GROUP_IMAGES,
  CLM__GROUP_MODEL,
  CLM__GROUP_TRAINING,
  CLM__GROUP_RUN,
  CLM__GROUP_DEVICE,
  CLM__GROUP_JOB,
  CLM__GROUP_REACH,
  CLM__GROUP_ENGINE,
  CLM__GROUP_OUTPUT,
  CLM__GROUP_COUNT
} clm__option_group;

/* A row of opts.def. */
typedef struct clm__option {
  const char *name;
  clm__option_kind kind;
  size_t offset;     /* of its field in clm__cli_config */
  unsigned commands; /* a bit a command, and CLM__IN_CONFIG */
  clm__option_group group;
  const char *value;
  double low;
  double high;
  const char *unset;
  const char *help;
} clm__option;

#define CLM__IN_CONFIG (1U << CLM__COMMAND_COUNT)

extern const clm__option clm__options[];
extern const size_t clm__option_count;

/* The title of a group of options: "Data". */
const char *clm__option_group_title(clm__option_group group);

/* Whether a name has the meaning of an option's name: '_' and '-' are the same. */
bool clm__option_is_named(const clm__option *option, const char *name, size_t length);

/* Reads text into the option's field. `where` begins the message of an error ("--epochs"); the text
 * is borrowed for the life of the configuration. Errors: USAGE, said. */
clm_status clm__option_set(const clm__option *option, const char *where, const char *text,
                           clm__cli_config *config);

/* Sets a flag: `on` false is --no-name. */
void clm__option_set_flag(const clm__option *option, bool on, clm__cli_config *config);
bool clm__option_is_flag(const clm__option *option);

/* Adds the field's value as an option's text; false, and nothing added, where it says nothing. */
bool clm__option_format(const clm__option *option, const clm__cli_config *config, clm__text *text);

/* The command of this name, NULL where there is none. */
const clm__command *clm__command_find(const char *name);

/* Says that there is no such command, and which one may be meant. */
clm_status clm__command_fail_unknown(const char *name);

/* Reads the words behind a command's name: defaults, then the configuration file, then the words.
 * In a job of several ranks (else NULL) rank 0 reads the file for all; collective. Errors: USAGE,
 * NO_INPUT, BAD_DATA; said. */
clm_status clm__options_parse(const clm__command *command, clm_job *job, int count,
                              const char *const *words, clm__cli_config *config);

/* The configuration as config.json; the caller's to free with clm__text_fini. */
clm_status clm__config_dump(const clm__cli_config *config, clm__text *json);

#endif
