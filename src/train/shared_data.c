#include "train/shared_data.h"

#include "base/mem.h"
#include "sys/file.h"
#include "train/job.h"

#include <string.h>

/* ---- the list ---- */

static clm_status pack_list(const clm_data_config *config, clm__dataset **dataset, char **bytes,
                            size_t *size_bytes)
{
  CLM_TRY(clm__data_source_list(config, dataset));
  return clm__dataset_pack(*dataset, bytes, size_bytes);
}

static clm_status unpack_list(const clm_data_config *config, const char *bytes, size_t size_bytes,
                              clm__dataset **dataset)
{
  CLM_REQUIRE(clm__file_is_folder(config->folder), CLM_NO_INPUT,
              "there is no folder %s here: every rank must see the same images", config->folder);
  CLM_TRY(clm__dataset_unpack(bytes, size_bytes, config->folder, dataset));
  return CLM_OK;
}

static clm_status share_list(const clm_data_config *config, clm__comm *comm, clm__dataset **dataset)
{
  const bool is_first = clm__comm_get_rank(comm) == 0;
  char *bytes = NULL;
  size_t size_bytes = 0;
  clm_status status = is_first ? pack_list(config, dataset, &bytes, &size_bytes) : CLM_OK;
  status = clm__job_share(comm, status, &bytes, &size_bytes);
  if (status == CLM_OK) {
    if (!is_first) status = unpack_list(config, bytes, size_bytes, dataset);
    status = clm__comm_agree_last(comm, status);
  }
  clm__mem_free(bytes);
  return status;
}

/* ---- the bad files ---- */

/* One bad file, as a rank tells it to the others. */
typedef struct note {
  uint64_t index; /* NO_FILE: the rank has no more */
  char fault[CLM__COMM_GATHER_MAX - sizeof(uint64_t)];
} note;

#define NO_FILE UINT64_MAX

/* The next bad file of this rank's part from *next on. */
static void take_note(const clm__dataset *dataset, size_t *next, size_t parts, note *mine)
{
  *mine = (note){.index = NO_FILE};
  while (*next < dataset->count && mine->index == NO_FILE) {
    const char *fault = dataset->samples[*next].fault;
    if (fault != NULL) {
      mine->index = *next;
      memcpy(mine->fault, fault, strnlen(fault, sizeof mine->fault - 1));
    }
    *next += parts;
  }
}

/* Writes down what the ranks said; *more tells whether any said something. */
static clm_status write_notes(clm__dataset *dataset, const note *notes, size_t parts, bool *more)
{
  *more = false;
  for (size_t i = 0; i < parts; i++) {
    if (notes[i].index >= dataset->count) continue;
    *more = true;
    char *fault = NULL;
    CLM_TRY(clm__mem_copy_text(notes[i].fault, &fault));
    clm__sample *sample = &dataset->samples[notes[i].index];
    clm__mem_free(sample->fault);
    sample->fault = fault;
  }
  return CLM_OK;
}

/* A round for each bad file of the rank that has most. A rank out of memory keeps step, and says so
 * at the end. */
static clm_status exchange_notes(clm__dataset *dataset, clm__comm *comm, note *notes)
{
  const size_t parts = (size_t)clm__comm_get_size(comm);
  size_t next = (size_t)clm__comm_get_rank(comm);
  clm_status written = CLM_OK;
  bool more = true;
  while (more) {
    note mine;
    take_note(dataset, &next, parts, &mine);
    CLM_TRY(clm__comm_gather(comm, &mine, sizeof mine, notes));
    const clm_status status = write_notes(dataset, notes, parts, &more);
    if (written == CLM_OK) written = status;
  }
  return clm__comm_agree_last(comm, written);
}

static clm_status share_faults(clm__dataset *dataset, clm__comm *comm)
{
  if (clm__comm_get_size(comm) == 1) return CLM_OK;
  note *notes = NULL;
  const clm_status room = clm__mem_alloc((size_t)clm__comm_get_size(comm), sizeof *notes, &notes);
  clm_status status = clm__comm_agree_last(comm, room);
  if (status == CLM_OK) status = exchange_notes(dataset, comm, notes);
  clm__mem_free(notes);
  return status;
}

static clm_status check_shared(clm__dataset *dataset, const clm_data_config *config,
                               clm__comm *comm, const clm_log *log)
{
  const clm__dataset_check_config check = {.threads = config->threads,
                                           .strict = config->strict != 0};
  const size_t part = (size_t)clm__comm_get_rank(comm);
  const size_t parts = (size_t)clm__comm_get_size(comm);
  CLM_TRY(clm__comm_agree_last(comm, clm__dataset_check_part(dataset, &check, part, parts)));
  CLM_TRY(share_faults(dataset, comm));
  const clm_status judged =
      clm__dataset_judge(dataset, config->strict != 0, part == 0 ? log : NULL);
  return clm__comm_agree_last(comm, judged);
}

clm_status clm__shared_data_open(const clm_data_config *config, clm__comm *comm, const clm_log *log,
                                 clm__dataset **dataset, size_t *all_count)
{
  clm__dataset *opened = NULL;
  clm_status status = share_list(config, comm, &opened);
  if (status == CLM_OK) status = check_shared(opened, config, comm, log);
  if (status != CLM_OK) {
    clm__dataset_close(opened);
    return clm__error_pass(status, __FILE__, __LINE__, __func__);
  }
  clm__dataset_drop_faulty(opened, all_count);
  *dataset = opened;
  return CLM_OK;
}
