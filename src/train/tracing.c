#include "train/tracing.h"

#include "base/mem.h"
#include "base/str.h"
#include "clematis/version.h"
#include "io/json.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "train/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_MAX ((size_t)1 << 17)
#define STEPS "1-100"

/* What a rank brings: passed between ranks as it is. */
typedef struct clm__tracing_part {
  uint64_t size_bytes; /* 0: it could not make its text */
  uint64_t spans;
  uint64_t left_out;
  double clock_error_seconds;
} rank_part;

/* ---- before the first step ---- */

/* A whole number in digits alone, and what must stand behind it. */
static bool read_step(const char **text, char end, uint64_t *step)
{
  char *stop = NULL;
  if (**text < '0' || **text > '9') return false;
  *step = strtoull(*text, &stop, 10);
  if (*stop != end) return false;
  *text = stop + (end != '\0');
  return true;
}

static clm_status read_steps(const char *text, clm__trace_config *config)
{
  const char *at = text;
  const bool is_range =
      read_step(&at, '-', &config->first_step) && read_step(&at, '\0', &config->last_step);
  CLM_REQUIRE(is_range && config->first_step >= 1 && config->first_step <= config->last_step,
              CLM_USAGE, "the steps of a trace are FIRST-LAST, as " STEPS ", not \"%s\"", text);
  return CLM_OK;
}

static clm_status prove_file(const char *path)
{
  char *temporary = NULL;
  CLM_TRY(clm__file_temporary_name(path, &temporary));
  clm_status status = clm__file_append(temporary, "", 0);
  if (status == CLM_OK) status = clm__file_remove(temporary);
  clm__mem_free(temporary);
  return status;
}

static clm_status make(clm__tracing *tracing, const clm__comm *comm, const char *steps)
{
  clm__trace_config config = {.span_max = SPANS_MAX};
  CLM_TRY(read_steps(steps != NULL ? steps : STEPS, &config));
  if (clm__comm_get_rank(comm) == 0) CLM_TRY(prove_file(tracing->path));
  const size_t ranks = (size_t)clm__comm_get_size(comm);
  CLM_TRY(clm__mem_alloc(ranks, sizeof *tracing->parts, &tracing->parts));
  return clm__trace_create(&config, &tracing->trace);
}

clm_status clm__tracing_begin(clm__tracing *tracing, clm__comm *comm, const char *path,
                              const char *steps)
{
  *tracing = (clm__tracing){.path = path};
  if (path == NULL) return CLM_OK;
  CLM_TRY(clm__comm_agree_last(comm, make(tracing, comm, steps)));
  CLM_TRY(clm__pair_compare_clocks(comm, &tracing->clock));
  tracing->zero_seconds = clm__clock_seconds();
  return clm__comm_broadcast(comm, &tracing->zero_seconds, sizeof tracing->zero_seconds);
}

void clm__tracing_fini(clm__tracing *tracing)
{
  clm__trace_destroy(tracing->trace);
  clm__mem_free(tracing->parts);
  *tracing = (clm__tracing){0};
}

/* ---- the file ---- */

typedef struct trace_file {
  const char *temporary;
  clm_status status; /* of what was written so far */
  clm_error error;
} trace_file;

/* The first failure stays: the ranks go on bringing theirs. */
static void keep(trace_file *file, clm_status status)
{
  if (file->status == CLM_OK && status != CLM_OK) file->error = *clm_error_last();
  if (file->status == CLM_OK) file->status = status;
}

static void add(trace_file *file, const char *bytes, size_t size_bytes)
{
  if (file->status == CLM_OK) keep(file, clm__file_append(file->temporary, bytes, size_bytes));
}

static void add_text(trace_file *file, const char *text) { add(file, text, strlen(text)); }

static clm_status make_end(const rank_part *parts, int ranks, char **text)
{
  clm__json_writer writer = {0};
  clm__json_begin_object(&writer, NULL);
  clm__json_put_text(&writer, "program", "clematis");
  clm__json_put_text(&writer, "version", clm_version());
  clm__json_begin_list(&writer, "ranks");
  for (int rank = 0; rank < ranks; rank++) {
    clm__json_begin_object(&writer, NULL);
    clm__json_put_int(&writer, "rank", rank);
    clm__json_put_int(&writer, "spans", (int64_t)parts[rank].spans);
    clm__json_put_int(&writer, "spans_left_out", (int64_t)parts[rank].left_out);
    clm__json_put_number(&writer, "clock_error_seconds", parts[rank].clock_error_seconds);
    clm__json_end_object(&writer);
  }
  clm__json_end_list(&writer);
  clm__json_end_object(&writer);
  return clm__json_take(&writer, text);
}

/* Rank 0 takes the other ranks' texts one after the other into `room`. */
static clm_status bring(trace_file *file, clm__comm *comm, const rank_part *parts, char *room)
{
  for (int rank = 1; rank < clm__comm_get_size(comm); rank++) {
    if (parts[rank].size_bytes == 0) continue;
    CLM_TRY(clm__pair_send(comm, rank, room, (size_t)parts[rank].size_bytes));
    add_text(file, ", ");
    add(file, room, (size_t)parts[rank].size_bytes);
  }
  return CLM_OK;
}

static clm_status make_room(clm__comm *comm, const rank_part *parts, char **room)
{
  const bool is_first = clm__comm_get_rank(comm) == 0;
  uint64_t most = 0;
  for (int rank = 1; rank < clm__comm_get_size(comm); rank++)
    if (parts[rank].size_bytes > most) most = parts[rank].size_bytes;
  const clm_status status = is_first ? clm__mem_alloc((size_t)most, 1, room) : CLM_OK;
  return clm__comm_agree_last(comm, status);
}

/* Everything behind a rank's own text. Fails where the ranks have lost each other. */
static clm_status bring_all(trace_file *file, clm__comm *comm, const rank_part *parts, char *own)
{
  const int rank = clm__comm_get_rank(comm);
  char *room = NULL;
  clm_status status = make_room(comm, parts, &room);
  if (status == CLM_OK && rank == 0) status = bring(file, comm, parts, room);
  if (status == CLM_OK && rank > 0 && own != NULL)
    status = clm__pair_send(comm, rank, own, (size_t)parts[rank].size_bytes);
  clm__mem_free(room);
  return status;
}

static void add_up(const rank_part *parts, int ranks, clm__tracing_sums *sums)
{
  *sums = (clm__tracing_sums){.ranks = ranks};
  for (int rank = 0; rank < ranks; rank++) {
    sums->spans += parts[rank].spans;
    sums->left_out += parts[rank].left_out;
  }
}

static void write_all(trace_file *file, clm__comm *comm, rank_part *parts, char *own,
                      clm__tracing_sums *sums)
{
  const int rank = clm__comm_get_rank(comm);
  int ranks = clm__comm_get_size(comm);
  char *end = NULL;
  const rank_part mine = parts[rank];
  if (rank == 0) add_text(file, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
  if (rank == 0 && own != NULL) add_text(file, own);
  if (ranks > 1 && (clm__comm_gather(comm, &mine, sizeof mine, parts) != CLM_OK ||
                    bring_all(file, comm, parts, own) != CLM_OK)) {
    clm_error_clear();
    ranks = 1;
  }
  add_up(parts, ranks, sums);
  if (rank > 0) return;
  keep(file, make_end(parts, ranks, &end));
  add_text(file, "], \"otherData\": ");
  if (end != NULL) add_text(file, end);
  add_text(file, "}\n");
  clm__mem_free(end);
}

static clm_status finish(trace_file *file, const clm__comm *comm, const char *path)
{
  if (clm__comm_get_rank(comm) > 0) return CLM_OK;
  if (file->status == CLM_OK) return clm__file_commit(file->temporary, path);
  if (clm__file_remove(file->temporary) != CLM_OK) clm_error_clear();
  return clm__error_raise(&file->error);
}

clm_status clm__tracing_write(const clm__tracing *tracing, clm__comm *comm, clm__tracing_sums *sums)
{
  const int rank = clm__comm_get_rank(comm);
  const clm__trace_counts counts = clm__trace_get_counts(tracing->trace);
  char *own = NULL;
  char *temporary = NULL;
  rank_part *const parts = tracing->parts;
  trace_file file = {0};
  keep(&file, clm__file_temporary_name(tracing->path, &temporary));
  file.temporary = temporary;
  keep(&file, clm__tracing_text(tracing, rank, clm__comm_get_host(comm, rank), &own));
  parts[rank] = (rank_part){.size_bytes = own != NULL ? strlen(own) : 0,
                            .spans = counts.spans,
                            .left_out = counts.left_out,
                            .clock_error_seconds = tracing->clock.error_seconds};
  write_all(&file, comm, parts, own, sums);
  const clm_status status = finish(&file, comm, tracing->path);
  clm__mem_free(own);
  clm__mem_free(temporary);
  return status;
}
