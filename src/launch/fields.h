/* The messages of Vertex AI's job description as tables: which keys there are, of what type. */
#ifndef CLM_LAUNCH_FIELDS_H
#define CLM_LAUNCH_FIELDS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef enum clm__field_kind {
  CLM__FIELD_TEXT,
  CLM__FIELD_INT, /* a number or a text of digits, low..high */
  CLM__FIELD_BOOL,
  CLM__FIELD_DURATION, /* "3600s" or a number of seconds */
  CLM__FIELD_WORD,     /* one of `words` */
  CLM__FIELD_MESSAGE,
  CLM__FIELD_MESSAGES, /* a list of them, at most `high` where that is not 0 */
  CLM__FIELD_TEXTS,
  CLM__FIELD_LABELS, /* an object of texts */
  CLM__FIELD_ANY     /* not looked into */
} clm__field_kind;

/* Flags of a field. */
enum {
  CLM__FIELD_REQUIRED = 1, /* an empty text counts as missing */
  CLM__FIELD_VERTEX = 2,   /* only Vertex AI can honour it */
  CLM__FIELD_SERVICE = 4   /* written by the service; passed over */
};

typedef struct clm__message clm__message;

typedef struct clm__field {
  const char *name; /* snake_case */
  clm__field_kind kind;
  unsigned flags;
  const clm__message *message;
  const char *const *words; /* ends with NULL */
  int64_t low;
  int64_t high;
  const char *hint; /* said where the kind is wrong */
} clm__field;

struct clm__message {
  const char *name; /* "WorkerPoolSpec" */
  const clm__field *fields;
  size_t count; /* at most 64 */
};

extern const clm__message clm__message_custom_job;
extern const clm__message clm__message_pipeline;
extern const clm__message clm__message_job_spec;
extern const clm__message clm__message_pool;

/* Names of accelerators, ending with NULL. */
extern const char *const clm__accelerator_names[];

#define CLM__FIELD_NAME_SIZE 64
/* Writes a key in snake_case: "machineSpec" and "machine_spec" become "machine_spec". A key too
 * long for any field is cut. */
void clm__field_to_snake(const char *key, char snake[CLM__FIELD_NAME_SIZE]);

/* Writes a field's name in camelCase. */
void clm__field_to_camel(const char *name, char camel[CLM__FIELD_NAME_SIZE]);

/* The field of this snake_case name, NULL where the message has none. */
const clm__field *clm__field_find(const clm__message *message, const char *snake);

#endif
