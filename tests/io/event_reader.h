/* Reading event files again: every checksum is checked, messages are decoded by protobuf-c. */
#ifndef CLM_TESTS_EVENT_READER_H
#define CLM_TESTS_EVENT_READER_H

#include "base/mem.h"
#include "io/event_file.h"
#include "sys/file.h"

#include <io/event.pb-c.h>
#include <string.h>

#define EVENTS_MAX 256

typedef struct decoded {
  Clm__Tb__Event *events[EVENTS_MAX];
  size_t count;
} decoded;

static inline uint64_t get_little_endian(const char *bytes, int count)
{
  uint64_t value = 0;
  for (int i = count - 1; i >= 0; i--) value = value << 8 | (unsigned char)bytes[i];
  return value;
}

static inline void assert_checksum(const char *bytes, size_t count, const char *stored)
{
  assert_int_equal(get_little_endian(stored, 4), clm__event_mask(clm__event_crc(bytes, count)));
}

/* The events of the file at place index of the folder; the test fails where it holds more or less
 * than whole records. */
static inline decoded read_events(const char *folder, size_t index)
{
  clm__file_listing listing = {0};
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  assert_true(index < listing.count);
  assert_non_null(strstr(listing.entries[index].name, "tfevents"));
  char *path = NULL;
  char *bytes = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_join(folder, listing.entries[index].name, &path), CLM_OK);
  assert_int_equal(clm__file_read(path, 1 << 20, &bytes, &size), CLM_OK);
  decoded result = {0};
  for (size_t at = 0; at < size;) {
    assert_true(size - at >= 16 && result.count < EVENTS_MAX);
    const size_t length = (size_t)get_little_endian(bytes + at, 8);
    assert_checksum(bytes + at, 8, bytes + at + 8);
    const char *message = bytes + at + 12;
    assert_true(length <= size - at - 16);
    assert_checksum(message, length, message + length);
    Clm__Tb__Event *event = clm__tb__event__unpack(NULL, length, (const uint8_t *)message);
    assert_non_null(event);
    result.events[result.count++] = event;
    at += length + 16;
  }
  clm__mem_free(bytes);
  clm__mem_free(path);
  clm__file_listing_fini(&listing);
  return result;
}

static inline void forget(decoded *read)
{
  for (size_t i = 0; i < read->count; i++) clm__tb__event__free_unpacked(read->events[i], NULL);
}

static inline size_t count_files(const char *folder)
{
  clm__file_listing listing = {0};
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  const size_t count = listing.count;
  clm__file_listing_fini(&listing);
  return count;
}

#endif
