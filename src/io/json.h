/* JSON in and out. Reading goes through places: a place knows its value and the way to it, so that
 * a message can say "layers[3].config.kernel_size". Places are plain data on the stack; each
 * borrows the one it was reached from. */
#ifndef CLM_IO_JSON_H
#define CLM_IO_JSON_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A document that was read. */
typedef struct clm__json clm__json;

typedef enum clm__json_kind {
  CLM__JSON_MISSING,
  CLM__JSON_NULL,
  CLM__JSON_BOOL,
  CLM__JSON_INT,
  CLM__JSON_REAL,
  CLM__JSON_TEXT,
  CLM__JSON_LIST,
  CLM__JSON_OBJECT
} clm__json_kind;

typedef struct clm__json_at {
  const clm__json *value;            /* NULL: missing */
  const struct clm__json_at *parent; /* NULL: the document itself */
  const char *key;                   /* in an object; NULL in a list */
  size_t index;                      /* in a list */
} clm__json_at;

/* Reads a text; a byte order mark is passed over. `what` names it in errors. Errors: BAD_DATA with
 * line and column, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__json_parse(const char *text, size_t size_bytes, const char *what,
                                          clm__json **json);
void clm__json_free(clm__json *json);

/* The document's own place. */
clm__json_at clm__json_root(const clm__json *json);
/* The value of a key; missing where `object` has none or is no object. The place of a missing value
 * keeps `key`, that of a found one the document's own. */
clm__json_at clm__json_find(const clm__json_at *object, const char *key);
/* An entry of a list; missing where `list` has none or is no list. */
clm__json_at clm__json_item(const clm__json_at *list, size_t index);
/* Entries of a list or keys of an object, 0 for others. */
size_t clm__json_count(const clm__json_at *at);
/* Goes through the keys of an object: `iterator` starts as NULL. False after the last one. */
bool clm__json_next(const clm__json_at *object, void **iterator, clm__json_at *member);

clm__json_kind clm__json_kind_of(const clm__json_at *at);
/* "a number", "a list", ... for messages. */
const char *clm__json_kind_text(const clm__json_at *at);
/* Whether the value is the text `text`. */
bool clm__json_is_text(const clm__json_at *at, const char *text);
/* Whether two values are the same; 1 and 1.0 are. */
bool clm__json_equal(const clm__json_at *a, const clm__json_at *b);

/* Each refuses a missing value, one of another kind, and one out of range. Errors: BAD_DATA with
 * the way to the value. A number with nothing behind its point is an int too. */
CLM_MUST_CHECK clm_status clm__json_get_text(const clm__json_at *at, const char **text);
CLM_MUST_CHECK clm_status clm__json_get_bool(const clm__json_at *at, bool *value);
CLM_MUST_CHECK clm_status clm__json_get_int(const clm__json_at *at, int64_t least, int64_t most,
                                            int64_t *value);
CLM_MUST_CHECK clm_status clm__json_get_number(const clm__json_at *at, double *value);
CLM_MUST_CHECK clm_status clm__json_require(const clm__json_at *at, clm__json_kind kind);

/* Starts an error whose message begins with the way to the value. */
clm_status clm__json_fail(const clm__json_at *at, clm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The text of a value, on one line. Taken by the caller. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__json_dump(const clm__json_at *at, char **text);

/* Writes a document in Python's style. Zeroed, it is ready. A failure is kept, so that the calls
 * need no checks; clm__json_take tells it. */
typedef struct clm__json_writer {
  clm__str text;
  bool needs_comma;
  clm_status status;
} clm__json_writer;

/* key: NULL in a list and for the document itself. Numbers keep every bit; what JSON cannot say
 * (not a number, infinity) becomes null. */
void clm__json_begin_object(clm__json_writer *writer, const char *key);
void clm__json_end_object(clm__json_writer *writer);
void clm__json_begin_list(clm__json_writer *writer, const char *key);
void clm__json_end_list(clm__json_writer *writer);
void clm__json_put_text(clm__json_writer *writer, const char *key, const char *value);
void clm__json_put_int(clm__json_writer *writer, const char *key, int64_t value);
void clm__json_put_number(clm__json_writer *writer, const char *key, double value);
void clm__json_put_bool(clm__json_writer *writer, const char *key, bool value);
void clm__json_put_null(clm__json_writer *writer, const char *key);
/* A value that is JSON text already. */
void clm__json_put_raw(clm__json_writer *writer, const char *key, const char *json);
/* Gives the text to the caller (clm__mem_free), or frees it and tells what failed. */
CLM_MUST_CHECK clm_status clm__json_take(clm__json_writer *writer, char **text);
/* Drops the text. */
void clm__json_writer_fini(clm__json_writer *writer);

#endif
