#include "dev/device_query.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD_SIZE 128

/* What is chosen from, and what was chosen so far. */
typedef struct picker {
  const clm__device_info *infos;
  size_t count;
  clm__device_choice *chosen;
  size_t chosen_count;
} picker;

/* One word of the list: "NAME", "NAME/PARTS" or "NAME/PARTS.PART". */
typedef struct device_word {
  char text[WORD_SIZE];
  int part_count;
  int part; /* -1: all of them */
} device_word;

static clm_status add_choice(picker *selection, clm__device_choice choice)
{
  const clm__device_info *info = &selection->infos[choice.index];
  for (size_t i = 0; i < selection->chosen_count; i++) {
    const clm__device_choice *other = &selection->chosen[i];
    if (other->index != choice.index) continue;
    CLM_REQUIRE(other->part_count == choice.part_count, CLM_USAGE,
                "device %s is chosen both in %d and in %d parts; choose one of them", info->id,
                other->part_count, choice.part_count);
    if (other->part == choice.part) return CLM_OK;
  }
  CLM_TRY(clm__mem_resize(selection->chosen_count + 1, sizeof choice, &selection->chosen));
  selection->chosen[selection->chosen_count++] = choice;
  return CLM_OK;
}

static clm_status add_device(picker *selection, size_t index, const device_word *wish)
{
  const clm__device_info *info = &selection->infos[index];
  const int count = wish->part_count;
  CLM_REQUIRE(count <= info->compute_units, CLM_USAGE,
              "device %s has %d compute units and cannot be split in %d", info->id,
              info->compute_units, count);
  const int first = wish->part >= 0 ? wish->part : 0;
  const int last = wish->part >= 0 ? wish->part : count - 1;
  for (int part = first; part <= last; part++)
    CLM_TRY(add_choice(selection, (clm__device_choice){index, part, count}));
  return CLM_OK;
}

/* "no device matches X; there are: gpu0 (NAME), cpu0 (NAME)" */
static clm_status fail_unmatched(const picker *selection, const char *word)
{
  clm__str list = {0};
  for (size_t i = 0; i < selection->count; i++)
    if (clm__str_add(&list, "%s%s (%s)", i > 0 ? ", " : "", selection->infos[i].id,
                     selection->infos[i].name) != CLM_OK)
      break;
  const clm_status status =
      clm__error_fail(CLM_NO_DEVICE, __FILE__, __LINE__, __func__,
                      "no device matches \"%s\"; there are: %s", word, clm__str_get(&list));
  clm__str_fini(&list);
  return status;
}

typedef bool (*matcher)(const clm__device_info *info, const char *word);

static bool has_id(const clm__device_info *info, const char *word)
{
  return strcasecmp(info->id, word) == 0;
}

static bool is_usual(const clm__device_info *info)
{
  return !info->is_emulator && !info->is_duplicate;
}

static bool is_usual_cpu(const clm__device_info *info, const char *word)
{
  (void)word;
  return is_usual(info) && info->kind == CLM__DEVICE_CPU;
}

static bool is_usual_other(const clm__device_info *info, const char *word)
{
  (void)word;
  return is_usual(info) && info->kind != CLM__DEVICE_CPU;
}

/* "gpu", "acc" and "cpu" are the ids without their numbers. */
static bool has_kind(const clm__device_info *info, const char *word)
{
  return is_usual(info) && strcspn(info->id, "0123456789") == strlen(word) &&
         strncasecmp(info->id, word, strlen(word)) == 0;
}

static bool has_name(const clm__device_info *info, const char *word)
{
  return clm__device_text_has(info->name, word) || clm__device_text_has(info->platform, word);
}

static bool has_usual_name(const clm__device_info *info, const char *word)
{
  return is_usual(info) && has_name(info, word);
}

static bool has_real_name(const clm__device_info *info, const char *word)
{
  return !info->is_emulator && has_name(info, word);
}

static clm_status add_matching(picker *selection, matcher matches, const device_word *wish,
                               bool *found)
{
  for (size_t i = 0; i < selection->count; i++) {
    if (!matches(&selection->infos[i], wish->text)) continue;
    CLM_TRY(add_device(selection, i, wish));
    *found = true;
  }
  return CLM_OK;
}

/* The tests of a word, most precise first: the first one that anything passes counts. So a name
 * means a card seen twice or an emulator only where nothing else has that name. */
static clm_status add_word(picker *selection, const device_word *wish)
{
  static const matcher all[] = {is_usual_other, is_usual_cpu, NULL};
  static const matcher named[] = {has_id, has_kind, has_usual_name, has_real_name, has_name, NULL};
  bool found = false;
  const matcher *tests = strcasecmp(wish->text, "all") == 0 ? all : named;
  for (; *tests != NULL && !found; tests++) CLM_TRY(add_matching(selection, *tests, wish, &found));
  return found ? CLM_OK : fail_unmatched(selection, wish->text);
}

/* A number of 1..999 digits at *text, which is moved behind it; -1 where there is none. */
static int read_number(const char **text)
{
  char *end = NULL;
  if (**text < '0' || **text > '9') return -1;
  const long value = strtol(*text, &end, 10);
  *text = end;
  return value <= 999 ? (int)value : -1;
}

static clm_status read_parts(const char *text, device_word *wish)
{
  const char *at = text;
  wish->part_count = read_number(&at);
  if (*at == '.') {
    at++;
    wish->part = read_number(&at);
    if (wish->part < 0) wish->part_count = 0;
  }
  CLM_REQUIRE(*at == '\0' && wish->part_count > 0 && wish->part < wish->part_count, CLM_USAGE,
              "\"%s/%s\" is not a split of a device; write \"%s/2\" for two halves or \"%s/2.0\" "
              "for the first of them",
              wish->text, text, wish->text, wish->text);
  return CLM_OK;
}

/* Reads the word of `length` characters at `text`. */
static clm_status read_word(const char *text, size_t length, device_word *wish)
{
  while (length > 0 && *text == ' ') text++, length--;
  while (length > 0 && text[length - 1] == ' ') length--;
  CLM_REQUIRE(length > 0, CLM_USAGE, "the list of devices has an empty word between its commas");
  CLM_REQUIRE(length < WORD_SIZE, CLM_USAGE, "the list of devices has a word of %zu characters",
              length);
  memcpy(wish->text, text, length);
  wish->text[length] = '\0';
  wish->part_count = 1;
  wish->part = -1;
  char *slash = strrchr(wish->text, '/');
  if (slash == NULL) return CLM_OK;
  *slash = '\0';
  return read_parts(slash + 1, wish);
}

static clm_status add_words(picker *selection, const char *spec)
{
  while (spec != NULL) {
    device_word wish = {.part_count = 1};
    const char *comma = strchr(spec, ',');
    const size_t length = comma != NULL ? (size_t)(comma - spec) : strlen(spec);
    CLM_TRY(read_word(spec, length, &wish));
    CLM_TRY(add_word(selection, &wish));
    spec = comma != NULL ? comma + 1 : NULL;
  }
  return CLM_OK;
}

clm_status clm__device_select(const clm__device_info *infos, size_t count, const char *spec,
                              clm__device_choice **chosen, size_t *chosen_count)
{
  picker selection = {.infos = infos, .count = count};
  clm_status status = CLM_OK;
  CLM_TRY_TO(failed, status, add_words(&selection, spec != NULL ? spec : "all"));
  *chosen = selection.chosen;
  *chosen_count = selection.chosen_count;
  return CLM_OK;
failed:
  clm__mem_free(selection.chosen);
  return status;
}
