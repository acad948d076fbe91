#include "io/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(clm__json_writer *writer, const char *text)
{
  if (writer->status == CLM_OK)
    writer->status = clm__str_add_bytes(&writer->text, text, strlen(text));
}

/* Bytes of the character of UTF-8 that the text begins with, 0 where it is none. */
static size_t character_bytes(const char *text)
{
  const unsigned char *bytes = (const unsigned char *)text;
  if (bytes[0] < 0x80) return 1;
  const size_t length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  if (bytes[0] < 0xc2 || bytes[0] > 0xf4) return 0;
  for (size_t i = 1; i < length; i++)
    if ((bytes[i] & 0xc0U) != 0x80U) return 0;
  /* Too long a form, a surrogate, or beyond Unicode. */
  if (bytes[0] == 0xe0 && bytes[1] < 0xa0) return 0;
  if (bytes[0] == 0xed && bytes[1] > 0x9f) return 0;
  if (bytes[0] == 0xf0 && bytes[1] < 0x90) return 0;
  if (bytes[0] == 0xf4 && bytes[1] > 0x8f) return 0;
  return length;
}

/* A byte that is not UTF-8 becomes the replacement character: JSON has no way to say it. */
static void add_quoted(clm__json_writer *writer, const char *text)
{
  add(writer, "\"");
  for (size_t length = 1; *text != '\0'; text += length) {
    char piece[8] = {0};
    length = character_bytes(text);
    if (length == 0)
      (void)snprintf(piece, sizeof piece, "\\ufffd");
    else if (*text == '"' || *text == '\\')
      (void)snprintf(piece, sizeof piece, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      (void)snprintf(piece, sizeof piece, "\\u%04x", (unsigned)(unsigned char)*text);
    else
      memcpy(piece, text, length);
    if (length == 0) length = 1;
    add(writer, piece);
  }
  add(writer, "\"");
}

/* What stands before every value. */
static void begin_value(clm__json_writer *writer, const char *key)
{
  if (writer->needs_comma) add(writer, ", ");
  writer->needs_comma = true;
  if (key == NULL) return;
  add_quoted(writer, key);
  add(writer, ": ");
}

static void begin(clm__json_writer *writer, const char *key, const char *bracket)
{
  begin_value(writer, key);
  add(writer, bracket);
  writer->needs_comma = false;
}

static void end(clm__json_writer *writer, const char *bracket)
{
  add(writer, bracket);
  writer->needs_comma = true;
}

void clm__json_begin_object(clm__json_writer *writer, const char *key) { begin(writer, key, "{"); }
void clm__json_end_object(clm__json_writer *writer) { end(writer, "}"); }
void clm__json_begin_list(clm__json_writer *writer, const char *key) { begin(writer, key, "["); }
void clm__json_end_list(clm__json_writer *writer) { end(writer, "]"); }

void clm__json_put_text(clm__json_writer *writer, const char *key, const char *value)
{
  begin_value(writer, key);
  add_quoted(writer, value);
}

void clm__json_put_int(clm__json_writer *writer, const char *key, int64_t value)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%lld", (long long)value);
  clm__json_put_raw(writer, key, text);
}

/* The fewest digits from which the number is read again: "d.ddde-07" with any decimal point. */
static void print_shortest(double value, char text[40])
{
  for (int digits = 0; digits <= 17; digits++) {
    (void)snprintf(text, 40, "%.*e", digits, value);
    if (strtod(text, NULL) == value) return;
  }
}

#define DIGITS_MAX 18

/* As Python writes floats: 0.001, 255.0, 1e-07, 1.5e+16. */
static void add_digits(clm__json_writer *writer, const char *digits, int count, int exponent)
{
  char text[48];
  int at = 0;
  const bool plain = exponent >= -4 && exponent < 16;
  const int before = plain ? exponent + 1 : 1;
  if (before <= 0) {
    text[at++] = '0';
    text[at++] = '.';
    for (int i = before; i < 0; i++) text[at++] = '0';
  }
  for (int i = 0; i < count || i < before; i++) {
    if (i == before && before > 0) text[at++] = '.';
    text[at++] = i < count ? digits[i] : '0';
  }
  if (plain && count <= before) {
    text[at++] = '.';
    text[at++] = '0';
  }
  text[at] = '\0';
  add(writer, text);
  if (plain) return;
  (void)snprintf(text, sizeof text, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
  add(writer, text);
}

void clm__json_put_number(clm__json_writer *writer, const char *key, double value)
{
  if (!isfinite(value)) {
    clm__json_put_null(writer, key);
    return;
  }
  begin_value(writer, key);
  char printed[40];
  print_shortest(fabs(value), printed);
  char digits[DIGITS_MAX + 1];
  int count = 0;
  const char *at = printed;
  for (; *at != 'e'; at++)
    if (*at >= '0' && *at <= '9' && count < DIGITS_MAX) digits[count++] = *at;
  const int exponent = (int)strtol(at + 1, NULL, 10);
  if (signbit(value)) add(writer, "-");
  add_digits(writer, digits, count, exponent);
}

void clm__json_put_bool(clm__json_writer *writer, const char *key, bool value)
{
  clm__json_put_raw(writer, key, value ? "true" : "false");
}

void clm__json_put_null(clm__json_writer *writer, const char *key)
{
  clm__json_put_raw(writer, key, "null");
}

void clm__json_put_raw(clm__json_writer *writer, const char *key, const char *json)
{
  begin_value(writer, key);
  add(writer, json);
}

clm_status clm__json_take(clm__json_writer *writer, char **text)
{
  clm_status status = writer->status;
  if (status == CLM_OK) status = clm__str_take(&writer->text, text);
  clm__json_writer_fini(writer);
  return status;
}

void clm__json_writer_fini(clm__json_writer *writer)
{
  clm__str_fini(&writer->text);
  *writer = (clm__json_writer){0};
}
