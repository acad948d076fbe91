/* Starting a job on one machine or many from the job description of Vertex AI. */
#ifndef CLEMATIS_LAUNCH_H
#define CLEMATIS_LAUNCH_H

#include "clematis/log.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What carries the job. */
typedef enum clm_engine {
  CLM_ENGINE_LOCAL,  /* mpirun on this machine */
  CLM_ENGINE_HOSTS,  /* mpirun over ssh */
  CLM_ENGINE_SLURM,  /* a batch script */
  CLM_ENGINE_MPIJOB, /* a manifest for the MPI Operator of Kubernetes */
  CLM_ENGINE_VERTEX  /* the CustomJob body that Vertex AI takes */
} clm_engine;

/* How the started job shows progress. */
typedef enum clm_launch_progress {
  CLM_LAUNCH_PROGRESS_LINES,
  CLM_LAUNCH_PROGRESS_BAR,
  CLM_LAUNCH_PROGRESS_NONE,
  CLM_LAUNCH_PROGRESS_JSON
} clm_launch_progress;

/* A borrowed list of texts. */
typedef struct clm_texts {
  const char *const *items;
  int count;
} clm_texts;

/* What is to be launched and how. Begin with clm_launch_config_default(). Texts are borrowed until
 * the job is destroyed; NULL means not given. */
typedef struct clm_launch_config {
  clm_engine engine;
  /* The job: one of these three. */
  const char *spec_file;        /* JSON; "-": standard input */
  clm_texts pool_specs;         /* KEY=VALUE,... a pool, as gcloud's --worker-pool-spec */
  int replica_count;            /* 0: not given */
  int accelerator_count;        /* of a replica, with replica_count; 0: none */
  const char *machine_type;     /* with replica_count */
  const char *accelerator_type; /* with replica_count */
  const char *image;            /* name of the container image */
  /* What the ranks run. */
  const char *program; /* path of clematis where the ranks run */
  clm_texts arguments; /* added behind the job's own arguments */
  int own_command;     /* entry point: arguments is a whole command, not one of clematis train */
  clm_texts env;       /* NAME=VALUE */
  const char *name;    /* of the job; NULL: its display_name, else "clematis" */
  const char *base_output_dir; /* NULL: the job's, else runs/NAME */
  int ranks_per_replica;       /* 0: one an accelerator, at least one */
  clm_launch_progress progress;
  /* mpirun and ssh. */
  const char *mpirun;    /* NULL: found in PATH */
  clm_texts mpi_args;    /* handed to mpirun as they are */
  const char *net;       /* interface or CIDR that MPI shall use */
  const char *host_file; /* engine hosts: lines "HOST slots=N" */
  const char *hosts;     /* engine hosts: "a,b:2" */
  int ssh_port;          /* 0: ssh's own */
  const char *ssh_key;   /* private key file */
  /* Times and restarts. */
  int max_restarts;             /* 3 */
  double start_timeout_seconds; /* 600: waiting for hosts */
  double stop_grace_seconds;    /* 60: from asking to stop until ending by force */
  double timeout_seconds;       /* 0: the job's, else none */
  /* Slurm. */
  int submit; /* hand the script to sbatch */
  const char *partition;
  const char *account;
  int use_srun;          /* srun --mpi=pmix in place of mpirun */
  const char *container; /* "apptainer:IMAGE" */
  /* MPIJob. */
  const char *kube_namespace;
  const char *gpu_resource; /* nvidia.com/gpu */
  int yaml;                 /* write YAML, not JSON */
  /* Inside a container. */
  int local_devices;       /* devices a replica has; 0: counts as one */
  const char *ssh_key_dir; /* keys of the image in place of keys exchanged through the folder */
  int vertex_retry;        /* 1: a job that failed for good ends with 134, so Vertex restarts */
} clm_launch_config;

/* The defaults named above; engine LOCAL. Threads: any. */
CLM_API clm_launch_config clm_launch_config_default(void);

typedef enum clm_finding_kind {
  CLM_FINDING_ERROR,   /* the job cannot be launched */
  CLM_FINDING_WARNING, /* it can, but may not be what is wanted */
  CLM_FINDING_NOTE     /* what the engine does with it */
} clm_finding_kind;

/* Something to say about a job description. */
typedef struct clm_finding {
  clm_finding_kind kind;
  const char *path; /* "worker_pool_specs[1].machine_spec"; "" for the whole */
  const char *text;
} clm_finding;

/* Told every finding, in order; borrowed for the call. */
typedef struct clm_findings {
  void (*visit)(void *user, const clm_finding *finding);
  void *user;
} clm_findings;

/* A job that was read, checked and planned. */
typedef struct clm_launch clm_launch;

/* Reads and checks the job description, tells all findings, and makes a plan. config and log are
 * borrowed until clm_launch_destroy; findings and log may be NULL. Errors: USAGE (options that do
 * not go together), NO_INPUT, BAD_DATA (any finding of kind ERROR), NO_MEMORY. */
CLM_API CLM_MUST_CHECK clm_status clm_launch_create(const clm_launch_config *config,
                                                    const clm_findings *findings,
                                                    const clm_log *log, clm_launch **launch);

/* Frees a job; takes NULL. */
CLM_API void clm_launch_destroy(clm_launch *launch);

/* The plan in words: replicas, ranks, command, environment. Taken by the caller (clm_text_free).
 * Errors: NO_MEMORY. */
CLM_API CLM_MUST_CHECK clm_status clm_launch_describe(const clm_launch *launch, char **text);

/* Exactly what would run: a command line quoted for a shell, a script, a manifest. Nothing is run
 * but `mpirun --version`. Taken by the caller (clm_text_free). Errors: UNSUPPORTED (this engine
 * cannot carry the job), NO_INPUT (no mpirun), NO_MEMORY. */
CLM_API CLM_MUST_CHECK clm_status clm_launch_print(const clm_launch *launch, char **text);

/* Runs the job to its end and gives its exit status: engines LOCAL and HOSTS, and SLURM with
 * `submit`. SIGINT, SIGTERM, SIGUSR1 and SIGUSR2 are taken by the call and handed on; call it from
 * the program's only thread. Errors: USAGE (an engine that only prints), NO_INPUT, BAD_DATA, IO,
 * PEER_FAILED (a host did not answer in time). */
CLM_API CLM_MUST_CHECK clm_status clm_launch_run(clm_launch *launch, int *exit_code);

/* What a program in a container or batch job is to be. */
typedef enum clm_role {
  CLM_ROLE_RANK,            /* mpirun or srun started it: train */
  CLM_ROLE_MPIJOB_LAUNCHER, /* start mpirun over the operator's host file */
  CLM_ROLE_MPIJOB_WORKER,   /* wait for mpirun over ssh */
  CLM_ROLE_REPLICA,         /* a Vertex AI replica: CLUSTER_SPEC or TF_CONFIG */
  CLM_ROLE_SLURM,           /* the batch script: mpirun finds its hosts */
  CLM_ROLE_ALONE            /* a machine of its own */
} clm_role;

/* Finds the role in the environment; *reason gets the variable that decided, static storage.
 * Threads: any while nobody changes the environment. */
CLM_API clm_role clm_role_find(const char **reason);

/* Does what the role asks until the job ends, and gives the exit status. arguments and times of
 * config count, spec_file and engine do not. RANK is not run here: train in this process. Signals
 * as in clm_launch_run. Errors: USAGE, BAD_DATA (a broken CLUSTER_SPEC), NO_INPUT, IO,
 * PEER_FAILED. */
CLM_API CLM_MUST_CHECK clm_status clm_entrypoint_run(clm_role role, const clm_launch_config *config,
                                                     const clm_log *log, int *exit_code);

typedef enum clm_check_result {
  CLM_CHECK_GOOD,
  CLM_CHECK_NOTE, /* not needed everywhere */
  CLM_CHECK_BAD
} clm_check_result;

/* One line of the doctor. */
typedef struct clm_check {
  clm_check_result result;
  const char *subject; /* "Open MPI" */
  const char *found;
  const char *mend; /* what to do; "" where nothing */
} clm_check;

/* Looks at what a job needs here: mpirun, ssh, OpenCL drivers and whether their libraries are
 * found, device files, clocks of the hosts in config, the shared folder base_output_dir. Each check
 * is told, borrowed for the call. Errors: NO_MEMORY. *bad_count gets the number of bad ones. */
CLM_API CLM_MUST_CHECK clm_status clm_doctor_run(const clm_launch_config *config,
                                                 void (*visit)(void *user, const clm_check *check),
                                                 void *user, int *bad_count);

#ifdef __cplusplus
}
#endif
#endif
