#include "cli/event_line.h"

#include "clematis/clematis.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* Adds the text as JSON has it. Without memory the program ends, as texts of its own do. */
static void add_quoted(clm__text *line, const char *text)
{
  char *quoted = NULL;
  if (clm_config_quote(text, &quoted) != CLM_OK) clm__text_end_program();
  clm__text_add(line, "%s", quoted);
  clm_text_free(quoted);
}

clm__text clm__event_line_begin(const char *event)
{
  clm__text line = {0};
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  clm__text_add(&line, "{\"event\": \"%s\", \"unix_seconds\": %lld.%03ld", event,
                (long long)now.tv_sec, now.tv_nsec / 1000000L);
  return line;
}

void clm__event_line_end(clm__text *line) { clm__text_add(line, "}"); }

void clm__event_line_text(clm__text *line, const char *key, const char *value)
{
  clm__text_add(line, ", \"%s\": ", key);
  add_quoted(line, value);
}

void clm__event_line_count(clm__text *line, const char *key, uint64_t value)
{
  clm__text_add(line, ", \"%s\": %" PRIu64, key, value);
}

void clm__event_line_number(clm__text *line, const char *key, double value)
{
  if (isfinite(value))
    clm__text_add(line, ", \"%s\": %.9g", key, value);
  else
    clm__text_add(line, ", \"%s\": null", key);
}

void clm__event_line_list(clm__text *line, const char *key, const char *value)
{
  const char *separator = "";
  clm__text_add(line, ", \"%s\": [", key);
  while (*value != '\0') {
    const int length = (int)strcspn(value, "\n");
    clm__text item = {0};
    clm__text_add(&item, "%.*s", length, value);
    clm__text_add(line, "%s", separator);
    add_quoted(line, clm__text_get(&item));
    clm__text_fini(&item);
    separator = ", ";
    value += length + (value[length] == '\n');
  }
  clm__text_add(line, "]");
}

void clm__event_line_flag(clm__text *line, const char *key, bool value)
{
  clm__text_add(line, ", \"%s\": %s", key, value ? "true" : "false");
}
