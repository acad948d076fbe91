/* A job description that was read and checked. */
#ifndef CLM_LAUNCH_SPEC_H
#define CLM_LAUNCH_SPEC_H

#include "io/json.h"
#include "launch/report.h"
#include "launch/words.h"

#define CLM__POOLS_MAX 4

/* One pool of replicas. Texts are borrowed from the document. */
typedef struct clm__spec_pool {
  int replicas;                 /* 0: the place is empty */
  const char *machine_type;     /* "" where not given */
  const char *accelerator_type; /* NULL where there is none */
  int accelerators;             /* of a replica */
  const char *image;            /* "" where not given */
  clm__words command;
  clm__words args;
  clm__words env; /* NAME=VALUE, not yet expanded */
} clm__spec_pool;

/* Zeroed, it is valid and empty. */
typedef struct clm__spec {
  clm__json *document;
  const clm__json *job;      /* the CustomJobSpec, or the bare list of pools */
  const clm__json *envelope; /* the CustomJob or TrainingPipeline around it; NULL: none */
  const char *display_name;  /* NULL: none */
  const char *output_uri;    /* NULL: none */
  double timeout_seconds;    /* 0: none */
  bool disable_retries;
  bool is_spot;
  clm__spec_pool pools[CLM__POOLS_MAX];
} clm__spec;

/* What the rules depend on. */
typedef struct clm__spec_use {
  clm_engine engine;
  bool needs_image; /* the engine starts containers */
  bool is_made;     /* the document comes from options: no image, no machine type is fine */
} clm__spec_use;

/* Reads the text of a job description. `what` names it in errors. Findings go to the report; the
 * spec is only filled where it has no errors. Errors: BAD_DATA (no JSON at all, or findings),
 * NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__spec_read(const char *text, const char *what,
                                         const clm__spec_use *use, clm__report *report,
                                         clm__spec *spec);
void clm__spec_fini(clm__spec *spec);

#endif
