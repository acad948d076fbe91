#include "dev/tune_line.h"

#include "dev/device_query.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A part of a line. */
typedef struct slice {
  const char *text;
  size_t length;
} slice;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static slice trim(slice part)
{
  while (part.length > 0 && is_blank(part.text[0])) part.text++, part.length--;
  while (part.length > 0 && is_blank(part.text[part.length - 1])) part.length--;
  return part;
}

/* Takes the characters before the next separator, or all, out of *rest. */
static slice take(slice *rest, char separator)
{
  const char *end = rest->length > 0 ? memchr(rest->text, separator, rest->length) : NULL;
  const slice part = {rest->text, end != NULL ? (size_t)(end - rest->text) : rest->length};
  const size_t used = part.length + (end != NULL);
  rest->text += used;
  rest->length -= used;
  return trim(part);
}

static bool copy(slice part, char *text, size_t size)
{
  if (part.length == 0 || part.length >= size) return false;
  memcpy(text, part.text, part.length);
  text[part.length] = '\0';
  return true;
}

/* "TILE=4": what a kernel is built with, so nothing but a name and a number may get through. */
static bool is_define(slice part)
{
  static const char names[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  char text[CLM__TUNE_DEFINES_SIZE];
  if (!copy(part, text, sizeof text)) return false;
  const size_t name = strspn(text, names);
  if (name == 0 || (text[0] >= '0' && text[0] <= '9') || text[name] != '=') return false;
  const size_t value = strspn(text + name + 1, "0123456789");
  return value > 0 && name + 1 + value == part.length;
}

static bool read_defines(slice rest, clm__tune_values *values)
{
  size_t used = 0;
  while (rest.length > 0) {
    const slice part = take(&rest, ' ');
    if (part.length == 0) continue;
    if (!is_define(part)) return false;
    if (used + part.length + 2 > sizeof values->defines) return false;
    used += (size_t)snprintf(values->defines + used, sizeof values->defines - used, "%s%.*s",
                             used > 0 ? " " : "", (int)part.length, part.text);
  }
  return true;
}

void clm__tune_line_read(const char *line, size_t length, clm__tune_entry *entry,
                         const char **reason)
{
  slice rest = trim((slice){line, length});
  *entry = (clm__tune_entry){0};
  *reason = NULL;
  if (rest.length == 0 || rest.text[0] == '#') return;
  slice parts[4];
  for (int i = 0; i < 4; i++) parts[i] = take(&rest, '|');
  const slice variant = take(&parts[3], ' ');
  if (rest.length > 0)
    *reason = "there are more than four parts between the bars";
  else if (!copy(parts[0], entry->op_pass, sizeof entry->op_pass))
    *reason = "the op is missing or too long";
  else if (!copy(parts[1], entry->shape, sizeof entry->shape))
    *reason = "the shape is missing or too long";
  else if (!copy(parts[2], entry->device, sizeof entry->device))
    *reason = "the device is missing or too long";
  else if (!copy(variant, entry->values.variant, sizeof entry->values.variant))
    *reason = "the variant is missing or too long";
  else if (!read_defines(parts[3], &entry->values))
    *reason = "what follows the variant is not NAME=number";
}

/* What a line cannot hold becomes a blank. */
static void mend(char *word)
{
  for (char *c = word; *c != '\0'; c++)
    if (*c == '|' || *c == '*' || *c == '\n') *c = ' ';
}

static void name_word(const clm__device_info *info, char word[CLM__TUNE_DEVICE_SIZE])
{
  (void)snprintf(word, CLM__TUNE_DEVICE_SIZE, "%s", info->name);
  mend(word);
}

void clm__tune_device_word(const clm__device_info *info, char word[CLM__TUNE_DEVICE_SIZE])
{
  const char *driver = info->driver_version;
  (void)snprintf(word, CLM__TUNE_DEVICE_SIZE, "%s%s%s", info->name,
                 driver[0] != '\0' ? ", driver " : "", driver);
  mend(word);
}

static const char *kind_word(clm__device_kind kind)
{
  static const char *const names[] = {
      [CLM__DEVICE_CPU] = "cpu", [CLM__DEVICE_GPU] = "gpu", [CLM__DEVICE_ACCELERATOR] = "acc"};
  return names[kind];
}

/* "VENDOR/kind" */
static bool is_vendor_kind(const char *word, const clm__device_info *info)
{
  char vendor[128];
  const char *slash = strrchr(word, '/');
  if (slash == NULL || slash == word || strcasecmp(slash + 1, kind_word(info->kind)) != 0)
    return false;
  (void)snprintf(vendor, sizeof vendor, "%.*s", (int)(slash - word), word);
  return clm__device_text_has(info->vendor, vendor);
}

/* "cpu:16" */
static bool is_kind_width(const char *word, const clm__device_info *info)
{
  char wanted[32];
  (void)snprintf(wanted, sizeof wanted, "%s:%d", kind_word(info->kind), info->vector_width);
  return strcasecmp(word, wanted) == 0;
}

int clm__tune_device_rank(const char *word, const clm__device_info *info)
{
  char name[CLM__TUNE_DEVICE_SIZE], exact[CLM__TUNE_DEVICE_SIZE];
  const size_t length = strlen(word);
  name_word(info, name);
  clm__tune_device_word(info, exact);
  if (strcasecmp(word, exact) == 0) return 1001;
  if (strcasecmp(word, name) == 0) return 1000;
  if (strcmp(word, "*") == 0) return 1;
  if (word[length - 1] == '*' && strncasecmp(word, exact, length - 1) == 0)
    return 100 + (int)length; /* the longer, the more precise */
  if (is_vendor_kind(word, info)) return 4;
  if (is_kind_width(word, info)) return 3;
  return strcasecmp(word, kind_word(info->kind)) == 0 ? 2 : 0;
}
