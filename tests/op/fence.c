#include "op/fence.h"

#include "base/num.h"
#include "op/testdevice.h"

#include <stdlib.h>
#include <string.h>

/* Not a number; the last bits are the buffer's place in the set, so that a copy of one buffer's
 * fence is seen in another's. */
#define PATTERN UINT32_C(0x7fc5a500)

static void add(fences *set, const fence *one)
{
  assert_true(set->count < FENCES_MAX);
  *one->argument = NULL;
  if (one->size_bytes > 0) set->list[set->count++] = *one;
}

void fences_add_input(fences *set, const char *name, cl_mem *argument, const void *content,
                      size_t size_bytes)
{
  const fence one = {
      .name = name, .argument = argument, .content = content, .size_bytes = size_bytes};
  *argument = NULL;
  if (content != NULL) add(set, &one);
}

void fences_add_output(fences *set, const char *name, cl_mem *argument, const void *content,
                       void *result, size_t size_bytes)
{
  add(set, &(fence){.name = name,
                    .argument = argument,
                    .content = content,
                    .result = result,
                    .size_bytes = size_bytes});
}

static size_t margin_of(const fences *set)
{
  return clm__round_up(256, set->device->info.base_align_bytes);
}

/* Host bytes of a fenced buffer, all pattern; *total_bytes are a multiple of four. */
static unsigned char *make_image(const fences *set, const fence *one, size_t *total_bytes)
{
  const uint32_t pattern = PATTERN | (uint32_t)(one - set->list);
  *total_bytes = clm__round_up(one->size_bytes, 64) + 2 * margin_of(set);
  unsigned char *image = malloc(*total_bytes);
  assert_non_null(image);
  for (size_t i = 0; i < *total_bytes; i += sizeof pattern)
    memcpy(image + i, &pattern, sizeof pattern);
  return image;
}

void fences_open(fences *set)
{
  const size_t margin = margin_of(set);
  for (int i = 0; i < set->count; i++) {
    fence *one = &set->list[i];
    size_t total = 0;
    unsigned char *image = make_image(set, one, &total);
    if (one->content != NULL) memcpy(image + margin, one->content, one->size_bytes);
    assert_ok(clm__buffer_create(set->device, total, &one->whole));
    assert_ok(clm__buffer_write(set->device, one->whole, 0, image, total, true));
    assert_ok(clm__buffer_view(set->device, one->whole, margin, one->size_bytes, one->argument));
    free(image);
  }
}

static void check(const fences *set, const fence *one, const char *what)
{
  const size_t margin = margin_of(set);
  size_t total = 0;
  unsigned char *expected = make_image(set, one, &total);
  unsigned char *actual = malloc(total);
  assert_non_null(actual);
  assert_ok(clm__buffer_read(set->device, one->whole, 0, actual, total, true));
  if (one->result != NULL) memcpy(one->result, actual + margin, one->size_bytes);
  const void *inside = one->result != NULL ? one->result : one->content;
  if (inside == NULL) inside = actual + margin;
  memcpy(expected + margin, inside, one->size_bytes);
  for (size_t i = 0; i < total; i++) {
    if (expected[i] == actual[i]) continue;
    const long place = (long)i - (long)margin;
    if (place >= 0 && place < (long)one->size_bytes)
      fail_msg("%s: input %s was changed at byte %ld", what, one->name, place);
    fail_msg("%s: buffer %s of %zu bytes was written at byte %ld", what, one->name, one->size_bytes,
             place);
  }
  free(expected);
  free(actual);
}

void fences_close(fences *set, const char *what)
{
  assert_ok(clm__device_finish(set->device));
  for (int i = 0; i < set->count; i++) {
    fence *one = &set->list[i];
    check(set, one, what);
    clm__buffer_release(one->argument);
    clm__buffer_release(&one->whole);
  }
  set->count = 0;
}
