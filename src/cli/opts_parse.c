/* The words of the command line and the lines of a configuration file. */
#include "cli/nearest.h"
#include "cli/opts.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned mask_of(const clm__command *command)
{
  return 1U << (unsigned)(command - clm__commands);
}

static const clm__option *find(const char *name, size_t length, unsigned mask)
{
  for (size_t i = 0; i < clm__option_count; i++) {
    const clm__option *option = &clm__options[i];
    if ((option->commands & mask) != 0 && clm__option_is_named(option, name, length)) return option;
  }
  return NULL;
}

static const char *nearest_option(const char *name, size_t length, unsigned mask)
{
  clm__nearest nearest = clm__nearest_begin(name, length);
  for (size_t i = 0; i < clm__option_count; i++) {
    if ((clm__options[i].commands & mask) != 0) clm__nearest_try(&nearest, clm__options[i].name);
  }
  return clm__nearest_found(&nearest);
}

static clm_status fail_unknown(const clm__command *command, const char *name, size_t length)
{
  const char *meant = nearest_option(name, length, mask_of(command));
  const clm__option *elsewhere = find(name, length, ~0U);
  if (elsewhere != NULL)
    return clm__say_error(CLM_USAGE, "--%s is no option of `clematis %s`; see `clematis %s --help`",
                          elsewhere->name, command->name, command->name);
  if (meant != NULL)
    return clm__say_error(CLM_USAGE, "there is no option --%.*s; did you mean --%s?", (int)length,
                          name, meant);
  return clm__say_error(CLM_USAGE, "there is no option --%.*s; see `clematis %s --help`",
                        (int)length, name, command->name);
}

clm_status clm__command_fail_unknown(const char *name)
{
  clm__nearest nearest = clm__nearest_begin(name, strlen(name));
  for (size_t i = 0; i < CLM__COMMAND_COUNT; i++) clm__nearest_try(&nearest, clm__commands[i].name);
  const char *meant = clm__nearest_found(&nearest);
  if (meant != NULL)
    return clm__say_error(CLM_USAGE, "there is no command '%s'; did you mean '%s'?", name, meant);
  return clm__say_error(CLM_USAGE, "there is no command '%s'; `clematis help` lists them", name);
}

/* What is left of the command line. */
typedef struct word_list {
  const clm__command *command;
  const char *const *words;
  int count;
  int next;
} word_list;

/* Reads one option, words[next - 1] without its dashes, and its value where that is a word of its
 * own. */
static clm_status parse_option(word_list *list, const char *name, clm__cli_config *config)
{
  const size_t length = strcspn(name, "=");
  const char *value = name[length] == '=' ? name + length + 1 : NULL;
  const unsigned mask = mask_of(list->command);
  const clm__option *option = find(name, length, mask);
  if (option == NULL && length > 3 && strncmp(name, "no-", 3) == 0) {
    option = find(name + 3, length - 3, mask);
    if (option != NULL && clm__option_is_flag(option) && value == NULL) {
      clm__option_set_flag(option, false, config);
      return CLM_OK;
    }
    option = NULL;
  }
  if (option == NULL) return fail_unknown(list->command, name, length);
  if (clm__option_is_flag(option) && value == NULL) {
    clm__option_set_flag(option, true, config);
    return CLM_OK;
  }
  char where[64];
  (void)snprintf(where, sizeof where, "--%s", option->name);
  if (value == NULL && list->next < list->count) value = list->words[list->next++];
  if (value == NULL)
    return clm__say_error(CLM_USAGE, "%s: a value is missing: %s %s", where, where, option->value);
  return clm__option_set(option, where, value, config);
}

/* Reads options into the configuration and collects the other words in `arguments`. */
static clm_status parse_words(word_list *list, clm__cli_config *config, const char **arguments)
{
  bool only_arguments = false;
  config->argument_count = 0;
  config->arguments = arguments;
  while (list->next < list->count) {
    const char *word = list->words[list->next++];
    clm_status status = CLM_OK;
    if (only_arguments || word[0] != '-' || word[1] == '\0')
      arguments[config->argument_count++] = word;
    else if (strcmp(word, "--") == 0)
      only_arguments = true;
    else if (strcmp(word, "-h") == 0)
      config->help = 1;
    else if (word[1] == '-')
      status = parse_option(list, word + 2, config);
    else
      status = clm__say_error(CLM_USAGE,
                              "there is no option %s; options are words, as in --help. A file's "
                              "name that begins with - goes behind --",
                              word);
    if (status != CLM_OK) return status;
  }
  return CLM_OK;
}

/* A configuration file being read. */
typedef struct file_reading {
  const char *path;
  clm__cli_config *config;
  bool has_said; /* the reason why the reading ended */
} file_reading;

static clm_status visit_key(void *user, const char *key, const char *value)
{
  file_reading *reading = user;
  const clm__option *option = find(key, strlen(key), CLM__IN_CONFIG);
  clm__text where = {0};
  clm__text_add(&where, "%s: %s", reading->path, key);
  clm_status status = CLM_OK;
  if (option == NULL) {
    const char *meant = nearest_option(key, strlen(key), CLM__IN_CONFIG);
    status = clm__say_error(CLM_USAGE, "%s: there is no such option%s%s%s", clm__text_get(&where),
                            meant != NULL ? "; did you mean " : "", meant != NULL ? meant : "",
                            meant != NULL ? "?" : "");
  } else {
    status = clm__option_set(option, clm__text_get(&where),
                             clm__cli_config_keep(reading->config, value), reading->config);
  }
  reading->has_said = status != CLM_OK;
  clm__text_fini(&where);
  return status;
}

static clm_status parse_file(const char *path, const char *text, clm__cli_config *config)
{
  file_reading reading = {.path = path, .config = config};
  const clm_status status = clm_config_parse(text, path, visit_key, &reading);
  if (status == CLM_OK || reading.has_said) return status;
  return clm__say_library_error(status);
}

/* Rank 0's file, also for ranks that do not see it. path NULL: there is none to read. */
static clm_status read_file(const char *path, clm_job *job, clm__cli_config *config)
{
  char *own = NULL;
  char *text = NULL;
  clm_status status = CLM_OK;
  if (path != NULL && clm_job_rank(job) == 0) status = clm_config_load(path, &own);
  if (status != CLM_OK) (void)clm__say_library_error(status);
  const clm_status shared = clm_job_share(job, own, &text);
  if (status == CLM_OK && shared != CLM_OK) status = clm__say_library_error(shared);
  if (status == CLM_OK && text != NULL)
    status = parse_file(path != NULL ? path : "the configuration of rank 0", text, config);
  clm_text_free(text);
  clm_text_free(own);
  return status;
}

/* A resumed run goes on with its own options where no file of options is named. */
static void find_resume_config(clm__cli_config *config)
{
  if (!config->train.resume || config->train.out_folder == NULL || config->config_file != NULL)
    return;
  const int length = snprintf(config->resume_config, sizeof config->resume_config, "%s/config.json",
                              config->train.out_folder);
  if (length < 0 || (size_t)length >= sizeof config->resume_config) return;
  if (access(config->resume_config, F_OK) == 0) config->config_file = config->resume_config;
}

static clm_status check_arguments(const clm__command *command, const clm__cli_config *config)
{
  const int count = config->argument_count;
  if (count < command->least)
    return clm__say_error(CLM_USAGE, "`clematis %s` needs %s; see `clematis %s --help`",
                          command->name, command->arguments, command->name);
  if (command->most < 0 || count <= command->most) return CLM_OK;
  const char *extra = config->arguments[command->most];
  if (command->most == 0)
    return clm__say_error(CLM_USAGE, "`clematis %s` takes no arguments: '%s' is one too many",
                          command->name, extra);
  return clm__say_error(CLM_USAGE, "`clematis %s` takes %s alone: '%s' is one too many",
                        command->name, command->arguments, extra);
}

static clm_status settle(clm__cli_config *config)
{
  if (config->crop && config->pad)
    return clm__say_error(CLM_USAGE, "--crop-to-aspect-ratio and --pad-to-aspect-ratio exclude "
                                     "each other: give one of them");
  if (config->crop) config->train.data.aspect = CLM_ASPECT_CROP;
  if (config->pad) config->train.data.aspect = CLM_ASPECT_PAD;
  if (config->quiet && config->verbose)
    return clm__say_error(CLM_USAGE, "--quiet and --verbose exclude each other: give one of them");
  return CLM_OK;
}

/* Once more on top of the file's values: the words win. */
static clm_status parse_layers(word_list *list, clm_job *job, const char **arguments,
                               clm__cli_config *parsed)
{
  clm__cli_config layered = clm__cli_config_default();
  memcpy(layered.resume_config, parsed->resume_config, sizeof layered.resume_config);
  const char *path =
      parsed->config_file == parsed->resume_config ? layered.resume_config : parsed->config_file;
  clm_status status = read_file(path, job, &layered);
  list->next = 0;
  if (status == CLM_OK) status = parse_words(list, &layered, arguments);
  *parsed = layered;
  return status;
}

clm_status clm__options_parse(const clm__command *command, clm_job *job, int count,
                              const char *const *words, clm__cli_config *config)
{
  const char **arguments = clm__memory_take((size_t)count + 1, sizeof *arguments);
  clm__cli_config parsed = clm__cli_config_default();
  word_list list = {.command = command, .words = words, .count = count};
  clm_status status = parse_words(&list, &parsed, arguments);
  if (status == CLM_OK && !parsed.help) find_resume_config(&parsed);
  if (status == CLM_OK && !parsed.help && (parsed.config_file != NULL || clm_job_size(job) > 1))
    status = parse_layers(&list, job, arguments, &parsed);
  if (status == CLM_OK && !parsed.help) status = check_arguments(command, &parsed);
  if (status == CLM_OK) status = settle(&parsed);
  parsed.arguments = arguments;
  *config = parsed;
  return status;
}
