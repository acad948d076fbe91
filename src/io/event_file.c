#include "io/event_file.h"

#include "base/mem.h"
#include "base/str.h"
#include "sys/clock.h"
#include "sys/file.h"

#include <inttypes.h>
#include <io/event.pb-c.h>
#include <stdio.h>
#include <string.h>

/* A record: length (8 bytes), its checksum (4), the message, its checksum (4). */
#define RECORD_HEAD_BYTES 12
#define RECORD_BYTES(message_bytes) (RECORD_HEAD_BYTES + (message_bytes) + 4)

/* Viewers take every file with "tfevents" in its name, in the order of the names. */
#define NAME_PREFIX "events.out.tfevents."

struct clm__event_file {
  char *folder;
  char *path; /* NULL: the next flush begins a file */
  clm__str pending;
};

clm_status clm__event_file_create(const char *folder, clm__event_file **file)
{
  clm__event_file *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  const clm_status status = clm__mem_copy_text(folder, &made->folder);
  if (status != CLM_OK) {
    clm__event_file_destroy(made);
    return status;
  }
  *file = made;
  return CLM_OK;
}

void clm__event_file_destroy(clm__event_file *file)
{
  if (file == NULL) return;
  clm__str_fini(&file->pending);
  clm__mem_free(file->path);
  clm__mem_free(file->folder);
  clm__mem_free(file);
}

/* ---- records ---- */

uint32_t clm__event_crc(const void *bytes, size_t count)
{
  const unsigned char *at = bytes;
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < count; i++) {
    crc ^= at[i];
    for (int bit = 0; bit < 8; bit++)
      crc = (crc & 1U) != 0 ? (crc >> 1) ^ UINT32_C(0x82f63b78) : crc >> 1;
  }
  return ~crc;
}

uint32_t clm__event_mask(uint32_t crc)
{
  return ((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8);
}

static void put_little_endian(uint8_t *to, uint64_t value, int count)
{
  for (int i = 0; i < count; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static void put_checksum(uint8_t *to, const uint8_t *of, size_t count)
{
  put_little_endian(to, clm__event_mask(clm__event_crc(of, count)), 4);
}

/* Adds the record of an event at the end of records. */
static clm_status add_record(clm__str *records, const Clm__Tb__Event *event)
{
  const size_t message_bytes = clm__tb__event__get_packed_size(event);
  uint8_t *record = NULL;
  CLM_TRY(clm__mem_alloc(1, RECORD_BYTES(message_bytes), &record));
  uint8_t *message = record + RECORD_HEAD_BYTES;
  put_little_endian(record, message_bytes, 8);
  put_checksum(record + 8, record, 8);
  (void)clm__tb__event__pack(event, message);
  put_checksum(message + message_bytes, message, message_bytes);
  const clm_status status =
      clm__str_add_bytes(records, (const char *)record, RECORD_BYTES(message_bytes));
  clm__mem_free(record);
  return status;
}

static Clm__Tb__Event make_event(int64_t step)
{
  Clm__Tb__Event event = CLM__TB__EVENT__INIT;
  event.wall_time = clm__clock_unix_seconds();
  event.step = step;
  return event;
}

clm_status clm__event_file_add_start(clm__event_file *file, int64_t step)
{
  Clm__Tb__SessionLog session = CLM__TB__SESSION_LOG__INIT;
  session.status = CLM__TB__SESSION_LOG__STATUS__START;
  Clm__Tb__Event event = make_event(step);
  event.what_case = CLM__TB__EVENT__WHAT_SESSION_LOG;
  event.session_log = &session;
  return add_record(&file->pending, &event);
}

/* Adds a value of a step; its tag is put in here. */
static clm_status add_value(clm__event_file *file, int64_t step, const char *tag,
                            Clm__Tb__Value *value)
{
  /* protobuf-c's texts are not const, though it only reads them. */
  CLM_TRY(clm__mem_copy_text(tag, &value->tag));
  Clm__Tb__Summary summary = CLM__TB__SUMMARY__INIT;
  summary.n_value = 1;
  summary.value = &value;
  Clm__Tb__Event event = make_event(step);
  event.what_case = CLM__TB__EVENT__WHAT_SUMMARY;
  event.summary = &summary;
  const clm_status status = add_record(&file->pending, &event);
  clm__mem_free(value->tag);
  return status;
}

clm_status clm__event_file_add_scalar(clm__event_file *file, int64_t step, const char *tag,
                                      double value)
{
  Clm__Tb__Value point = CLM__TB__VALUE__INIT;
  point.content_case = CLM__TB__VALUE__CONTENT_SIMPLE_VALUE;
  point.simple_value = (float)value;
  return add_value(file, step, tag, &point);
}

static void put_double(uint8_t *to, double value)
{
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  put_little_endian(to, bits, sizeof bits);
}

/* The buckets as the content of a tensor [count,3]. Taken by the caller. */
static clm_status pack_buckets(const clm__event_bucket *buckets, size_t count, uint8_t **content)
{
  CLM_TRY(clm__mem_alloc(count, sizeof *buckets, content));
  for (size_t i = 0; i < count; i++) {
    uint8_t *at = *content + i * 3 * sizeof(double);
    put_double(at, buckets[i].left);
    put_double(at + sizeof(double), buckets[i].right);
    put_double(at + 2 * sizeof(double), buckets[i].count);
  }
  return CLM_OK;
}

clm_status clm__event_file_add_histogram(clm__event_file *file, int64_t step, const char *tag,
                                         const clm__event_bucket *buckets, size_t count)
{
  char plugin_name[] = "histograms";
  Clm__Tb__TensorShape__Dim rows = CLM__TB__TENSOR_SHAPE__DIM__INIT;
  Clm__Tb__TensorShape__Dim columns = CLM__TB__TENSOR_SHAPE__DIM__INIT;
  Clm__Tb__TensorShape__Dim *dims[] = {&rows, &columns};
  Clm__Tb__TensorShape shape = CLM__TB__TENSOR_SHAPE__INIT;
  Clm__Tb__Tensor tensor = CLM__TB__TENSOR__INIT;
  Clm__Tb__Metadata__PluginData plugin = CLM__TB__METADATA__PLUGIN_DATA__INIT;
  Clm__Tb__Metadata metadata = CLM__TB__METADATA__INIT;
  Clm__Tb__Value value = CLM__TB__VALUE__INIT;
  rows.size = (int64_t)count;
  columns.size = 3;
  shape.n_dim = 2;
  shape.dim = dims;
  tensor.dtype = CLM__TB__TENSOR__TYPE__DOUBLE;
  tensor.tensor_shape = &shape;
  tensor.tensor_content.len = count * sizeof *buckets;
  CLM_TRY(pack_buckets(buckets, count, &tensor.tensor_content.data));
  plugin.plugin_name = plugin_name;
  metadata.plugin_data = &plugin;
  metadata.data_class = CLM__TB__METADATA__DATA_CLASS__TENSOR;
  value.content_case = CLM__TB__VALUE__CONTENT_TENSOR;
  value.tensor = &tensor;
  value.metadata = &metadata;
  const clm_status status = add_value(file, step, tag, &value);
  clm__mem_free(tensor.tensor_content.data);
  return status;
}

/* ---- the file ---- */

/* The time, or one more than the latest in the folder: a clock may have been set back, and files
 * may be made within a second. */
static clm_status choose_stamp(const char *folder, int64_t *stamp)
{
  clm__file_listing listing = {0};
  CLM_TRY(clm__file_list(folder, &listing));
  int64_t chosen = (int64_t)clm__clock_unix_seconds();
  for (size_t i = 0; i < listing.count; i++) {
    int64_t taken = 0;
    if (sscanf(listing.entries[i].name, NAME_PREFIX "%10" SCNd64, &taken) == 1 && taken >= chosen)
      chosen = taken + 1;
  }
  clm__file_listing_fini(&listing);
  *stamp = chosen;
  return CLM_OK;
}

static clm_status choose_path(const char *folder, char **path)
{
  CLM_TRY(clm__file_make_folder(folder));
  int64_t stamp = 0;
  CLM_TRY(choose_stamp(folder, &stamp));
  char name[64];
  (void)snprintf(name, sizeof name, NAME_PREFIX "%010" PRId64 ".clematis", stamp);
  return clm__file_join(folder, name, path);
}

/* The first record of every file. */
static clm_status add_version(clm__str *records)
{
  char version[] = "brain.Event:2";
  Clm__Tb__Event event = make_event(0);
  event.what_case = CLM__TB__EVENT__WHAT_FILE_VERSION;
  event.file_version = version;
  return add_record(records, &event);
}

static clm_status write_first(const char *path, const clm__str *pending)
{
  clm__str whole = {0};
  clm_status status = add_version(&whole);
  if (status == CLM_OK) status = clm__str_add_bytes(&whole, clm__str_get(pending), pending->length);
  if (status == CLM_OK) status = clm__file_append(path, clm__str_get(&whole), whole.length);
  clm__str_fini(&whole);
  return status;
}

static clm_status begin_file(clm__event_file *file)
{
  char *path = NULL;
  CLM_TRY(choose_path(file->folder, &path));
  const clm_status status = write_first(path, &file->pending);
  if (status == CLM_OK)
    file->path = path;
  else
    clm__mem_free(path);
  return status;
}

static clm_status go_on(clm__event_file *file)
{
  const clm_status status =
      clm__file_append(file->path, clm__str_get(&file->pending), file->pending.length);
  if (status == CLM_OK) return CLM_OK;
  /* It may end in half a record, behind which nothing would be read. */
  clm__mem_free(file->path);
  file->path = NULL;
  return status;
}

clm_status clm__event_file_flush(clm__event_file *file)
{
  if (file->pending.length == 0) return CLM_OK;
  CLM_TRY(file->path != NULL ? go_on(file) : begin_file(file));
  clm__str_fini(&file->pending);
  return CLM_OK;
}
