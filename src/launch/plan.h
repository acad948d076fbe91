/* What will run where: made of a checked job description and the options. */
#ifndef CLM_LAUNCH_PLAN_H
#define CLM_LAUNCH_PLAN_H

#include "launch/spec.h"

/* One machine or pod of a job. Texts are borrowed from the spec, but for the host. */
typedef struct clm__replica {
  int pool;
  int index;
  int slots;      /* ranks on it */
  int processors; /* 0: not known */
  int accelerators;
  const char *machine_type;     /* "" where not given */
  const char *accelerator_type; /* NULL where there is none */
  const char *image;            /* "" where not given */
  char *host;                   /* NULL where the engine finds it */
} clm__replica;

/* Zeroed, it is valid and empty. */
typedef struct clm__plan {
  char *name;
  char *output;     /* path that the ranks see, also the run's folder */
  char *output_uri; /* as it was given */
  clm__replica *replicas;
  size_t replica_count;
  int ranks;
  bool is_own;        /* the command is Clematis itself: the launcher adds its own options */
  clm__words command; /* up to where options are added: {"clematis", "train"} */
  clm__words rest;    /* the arguments behind */
  clm__words env;     /* of the ranks */
  int max_restarts;
  double timeout_seconds; /* 0: none */
  bool is_spot;
} clm__plan;

/* Makes the plan. spec is borrowed for the plan's life. Errors: USAGE (options), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__plan_make(const clm__spec *spec, const clm_launch_config *config,
                                         clm__plan *plan);
void clm__plan_fini(clm__plan *plan);

/* Adds what the launcher itself starts without a job description: `config.arguments` on one machine
 * after the other, `slots` ranks each. Errors: USAGE, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__plan_make_plain(const clm_launch_config *config,
                                               const char *output_uri, clm__plan *plan);

/* Adds a replica. host may be NULL and is copied. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__plan_add_replica(clm__plan *plan, const clm__replica *replica,
                                                const char *host);

/* What a rank runs: the command, and for our own program --expect-ranks, --progress, --out and
 * where `resume` is set --resume. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__plan_command(const clm__plan *plan, clm_launch_progress progress,
                                            bool resume, clm__words *words);

/* Whether all replicas have the same number of ranks. */
bool clm__plan_is_even(const clm__plan *plan);

/* Adds the plan in words. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__plan_describe(const clm__plan *plan, clm_launch_progress progress,
                                             clm__str *text);

#endif
