/* The command line of Open MPI's mpirun, versions 4 and 5. */
#ifndef CLM_LAUNCH_MPIRUN_H
#define CLM_LAUNCH_MPIRUN_H

#include "launch/words.h"

typedef struct clm__mpi_version {
  int major;
  int minor;
  int release;
} clm__mpi_version;

/* Reads what `mpirun --version` prints. Errors: UNSUPPORTED (another MPI, or too old). */
CLM_MUST_CHECK clm_status clm__mpirun_read_version(const char *text, clm__mpi_version *version);

/* What mpirun is to do. Texts are borrowed. */
typedef struct clm__mpirun {
  const char *path; /* "mpirun" */
  clm__mpi_version version;
  int ranks;
  const char *host_file;    /* NULL: one machine, or a batch system that knows the hosts */
  const clm__words *ssh;    /* options of ssh; NULL: its own */
  const char *net;          /* NULL: all interfaces */
  bool oversubscribe;       /* more ranks than processors */
  bool by_scheduler;        /* a batch system starts the daemons */
  const clm__words *env;    /* NAME=VALUE of the ranks; set in mpirun's environment too */
  const char *const *extra; /* handed on as they are */
  int extra_count;
  const clm__words *command;
} clm__mpirun;

/* Adds the command line. Errors: USAGE (an ssh option with a blank, which mpirun would split),
 * NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__mpirun_words(const clm__mpirun *mpirun, clm__words *words);

/* One line of a host file. */
CLM_MUST_CHECK clm_status clm__mpirun_add_host(clm__str *file, const char *host, int slots);

#endif
