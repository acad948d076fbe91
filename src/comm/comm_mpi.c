#include "comm/link.h"

#include "base/mem.h"

#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

struct clm__link {
  MPI_Comm comm;
  bool owns_mpi; /* the application had not started MPI itself */
};

struct clm__message_set {
  MPI_Request *requests; /* [count], persistent */
  int *arrived;          /* [count], room for MPI */
  bool *is_missing;      /* [count] */
  int count;
  int left; /* still on their way */
};

static clm_status fail_mpi(const char *call, int code)
{
  char text[MPI_MAX_ERROR_STRING + 1] = "unknown reason";
  int length = 0;
  (void)MPI_Error_string(code, text, &length);
  CLM_FAIL(CLM_PEER_FAILED, "%s failed: %s", call, text);
}

static clm_status check_mpi(const char *call, int code)
{
  return code == MPI_SUCCESS ? CLM_OK : fail_mpi(call, code);
}

static void destroy_set(clm__message_set *set)
{
  if (set == NULL) return;
  for (int i = 0; i < set->count; i++)
    if (set->requests[i] != MPI_REQUEST_NULL) (void)MPI_Request_free(&set->requests[i]);
  clm__mem_free(set->is_missing);
  clm__mem_free(set->arrived);
  clm__mem_free(set->requests);
  clm__mem_free(set);
}

static clm_status make_request(clm__link *link, const clm__message *message, MPI_Request *request)
{
  CLM_REQUIRE(message->size_bytes <= INT_MAX, CLM_UNSUPPORTED,
              "a message of %zu bytes; MPI sends at most %d at once", message->size_bytes, INT_MAX);
  const int size = (int)message->size_bytes;
  if (message->is_receive)
    return check_mpi("MPI_Recv_init", MPI_Recv_init(message->bytes, size, MPI_BYTE, message->peer,
                                                    message->tag, link->comm, request));
  return check_mpi("MPI_Send_init", MPI_Send_init(message->bytes, size, MPI_BYTE, message->peer,
                                                  message->tag, link->comm, request));
}

static clm_status create_set(clm__link *link, const clm__message *messages, size_t count,
                             clm__message_set **set)
{
  clm_status status = CLM_OK;
  clm__message_set *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  CLM_TRY_TO(failed, status, clm__mem_alloc(count, sizeof *made->requests, &made->requests));
  CLM_TRY_TO(failed, status, clm__mem_alloc(count, sizeof *made->arrived, &made->arrived));
  CLM_TRY_TO(failed, status, clm__mem_alloc(count, sizeof *made->is_missing, &made->is_missing));
  for (; made->count < (int)count; made->count++)
    CLM_TRY_TO(failed, status,
               make_request(link, &messages[made->count], &made->requests[made->count]));
  *set = made;
  return CLM_OK;
failed:
  destroy_set(made);
  return status;
}

static clm_status start_set(clm__message_set *set)
{
  for (int i = 0; i < set->count; i++) set->is_missing[i] = true;
  set->left = set->count;
  if (set->count == 0) return CLM_OK;
  return check_mpi("MPI_Startall", MPI_Startall(set->count, set->requests));
}

static clm_status test_set(clm__message_set *set, bool *moved, bool *done)
{
  if (set->left > 0) {
    int arrived = 0;
    CLM_TRY(check_mpi("MPI_Testsome", MPI_Testsome(set->count, set->requests, &arrived,
                                                   set->arrived, MPI_STATUSES_IGNORE)));
    for (int i = 0; arrived != MPI_UNDEFINED && i < arrived; i++) {
      set->is_missing[set->arrived[i]] = false;
      set->left--;
      *moved = true;
    }
  }
  *done = set->left == 0;
  return CLM_OK;
}

static bool is_missing(const clm__message_set *set, size_t index) { return set->is_missing[index]; }

static void close_link(clm__link *link, bool is_clean)
{
  if (is_clean) {
    (void)MPI_Comm_free(&link->comm);
    if (link->owns_mpi) (void)MPI_Finalize();
  }
  clm__mem_free(link);
}

/* Makes the launcher's end known to this process; parent_before is the launcher's id. */
static clm_status follow_parent(pid_t parent_before)
{
#ifdef __linux__
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  CLM_REQUIRE(getppid() == parent_before, CLM_PEER_FAILED,
              "the launcher of this rank ended while the rank was starting");
  return CLM_OK;
}

static clm_status start_mpi(clm__link *link)
{
  int flag = 0;
  int level = MPI_THREAD_SINGLE;
  CLM_TRY(check_mpi("MPI_Finalized", MPI_Finalized(&flag)));
  CLM_REQUIRE(!flag, CLM_UNSUPPORTED, "this process has left its job: MPI cannot be joined twice");
  CLM_TRY(check_mpi("MPI_Initialized", MPI_Initialized(&flag)));
  link->owns_mpi = !flag;
  if (link->owns_mpi)
    CLM_TRY(
        check_mpi("MPI_Init_thread", MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level)));
  else
    CLM_TRY(check_mpi("MPI_Query_thread", MPI_Query_thread(&level)));
  if (link->owns_mpi) (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CLM_REQUIRE(level >= MPI_THREAD_SERIALIZED, CLM_UNSUPPORTED,
              "this MPI takes calls from one thread only: MPI_THREAD_SERIALIZED is needed");
  return CLM_OK;
}

/* Each rank of another MPI's launcher would otherwise train alone. */
static clm_status check_promise(int size)
{
  const char *const promised = getenv("OMPI_COMM_WORLD_SIZE");
  CLM_REQUIRE(promised == NULL || strtol(promised, NULL, 10) == size, CLM_UNSUPPORTED,
              "mpirun promised %s ranks, but MPI sees %d: the program and mpirun belong to "
              "different MPI installations",
              promised, size);
  return CLM_OK;
}

static clm_status read_facts(clm__link *link, clm__link_facts *facts)
{
  clm__link_facts read = {0};
  CLM_TRY(check_mpi("MPI_Comm_rank", MPI_Comm_rank(link->comm, &read.rank)));
  CLM_TRY(check_mpi("MPI_Comm_size", MPI_Comm_size(link->comm, &read.size)));
  CLM_TRY(check_promise(read.size));
  MPI_Comm local = MPI_COMM_NULL;
  CLM_TRY(check_mpi("MPI_Comm_split_type", MPI_Comm_split_type(link->comm, MPI_COMM_TYPE_SHARED,
                                                               read.rank, MPI_INFO_NULL, &local)));
  CLM_TRY(check_mpi("MPI_Comm_rank", MPI_Comm_rank(local, &read.local_rank)));
  CLM_TRY(check_mpi("MPI_Comm_size", MPI_Comm_size(local, &read.local_size)));
  CLM_TRY(check_mpi("MPI_Comm_free", MPI_Comm_free(&local)));
  int *tag_max = NULL;
  int found = 0;
  CLM_TRY(check_mpi("MPI_Comm_get_attr",
                    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_max, &found)));
  read.tag_max = found ? *tag_max : 32767;
  *facts = read;
  return CLM_OK;
}

clm_status clm__link_open_mpi(clm__link **link, const clm__link_ops **ops, clm__link_facts *facts)
{
  static const clm__link_ops mpi_ops = {.create_set = create_set,
                                        .destroy_set = destroy_set,
                                        .start_set = start_set,
                                        .test_set = test_set,
                                        .is_missing = is_missing,
                                        .close = close_link};
  const pid_t parent = getppid();
  clm_status status = CLM_OK;
  clm__link *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  CLM_TRY_TO(failed, status, start_mpi(made));
  CLM_TRY_TO(failed, status, follow_parent(parent));
  CLM_TRY_TO(failed, status, check_mpi("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &made->comm)));
  CLM_TRY_TO(
      failed, status,
      check_mpi("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN)));
  CLM_TRY_TO(failed, status, read_facts(made, facts));
  *link = made;
  *ops = &mpi_ops;
  return CLM_OK;
failed:
  clm__mem_free(made);
  return status;
}
