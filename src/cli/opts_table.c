#include "cli/commands.h"
#include "cli/opts.h"

#include <string.h>

const clm__command clm__commands[CLM__COMMAND_COUNT] = {
#define COMMAND(name, mask, arguments, least, most, summary)                                       \
  {#name, arguments, least, most, summary, clm__cmd_##name},
#include "cli/commands.def"
#undef COMMAND
};

/* The masks that the rows of opts.def are written with. */
enum {
#define COMMAND(name, mask, arguments, least, most, summary) mask = 1U << CLM__COMMAND_##mask,
#include "cli/commands.def"
#undef COMMAND
  CONFIG = CLM__IN_CONFIG,
  ALL = CLM__IN_CONFIG - 1
};

/* The size a field must have to hold an option of a kind. */
#define SIZE_OF_FLAG sizeof(int)
#define SIZE_OF_INVERSE sizeof(int)
#define SIZE_OF_INT sizeof(int)
#define SIZE_OF_U32 sizeof(uint32_t)
#define SIZE_OF_U64 sizeof(uint64_t)
#define SIZE_OF_BYTES sizeof(uint64_t)
#define SIZE_OF_DOUBLE sizeof(double)
#define SIZE_OF_CHOICE sizeof(int)
#define SIZE_OF_WORD sizeof(char *)
#define SIZE_OF_TEXT sizeof(char *)
#define SIZE_OF_SIZE sizeof(int)
#define SIZE_OF_LIST sizeof(clm__word_list)
#define OPTION(name, kind, field, commands, group, value, low, high, unset, help)                  \
  _Static_assert(sizeof(((clm__cli_config *)0)->field) == SIZE_OF_##kind, name);
#include "cli/opts.def"
#undef OPTION
_Static_assert(offsetof(clm_train_config, image_width) ==
                   offsetof(clm_train_config, image_height) + sizeof(int),
               "SIZE writes height and width in a row");

const clm__option clm__options[] = {
#define OPTION(name, kind, field, commands, group, value, low, high, unset, help)                  \
  {name,                                                                                           \
   CLM__##kind,                                                                                    \
   offsetof(clm__cli_config, field),                                                               \
   (commands),                                                                                     \
   CLM__GROUP_##group,                                                                             \
   value,                                                                                          \
   low,                                                                                            \
   high,                                                                                           \
   unset,                                                                                          \
   help},
#include "cli/opts.def"
#undef OPTION
};
const size_t clm__option_count = sizeof clm__options / sizeof clm__options[0];

const char *clm__option_group_title(clm__option_group group)
{
  static const char *const titles[CLM__GROUP_COUNT] = {
      [CLM__GROUP_DATA] = "Data",      [CLM__GROUP_IMAGES] = "Images",
      [CLM__GROUP_MODEL] = "Model",    [CLM__GROUP_TRAINING] = "Training",
      [CLM__GROUP_RUN] = "Run folder", [CLM__GROUP_DEVICE] = "Devices",
      [CLM__GROUP_JOB] = "The job",    [CLM__GROUP_REACH] = "mpirun and ssh",
      [CLM__GROUP_ENGINE] = "Engines", [CLM__GROUP_OUTPUT] = "The rest",
  };
  return titles[group];
}

static char plain(char c) { return c == '_' ? '-' : c; }

bool clm__option_is_named(const clm__option *option, const char *name, size_t length)
{
  if (strlen(option->name) != length) return false;
  for (size_t i = 0; i < length; i++) {
    if (plain(name[i]) != option->name[i]) return false;
  }
  return true;
}

const clm__command *clm__command_find(const char *name)
{
  for (size_t i = 0; i < CLM__COMMAND_COUNT; i++) {
    if (strcmp(clm__commands[i].name, name) == 0) return &clm__commands[i];
  }
  return NULL;
}
