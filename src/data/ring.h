/* The inside of the loader: a ring of slots that workers fill and the consumer empties. */
#ifndef CLM_DATA_RING_H
#define CLM_DATA_RING_H

#include "data/loader.h"
#include "data/reader.h"
#include "sys/thread.h"

typedef enum clm__slot_state {
  CLM__SLOT_FREE,
  CLM__SLOT_FILLING, /* workers write into it */
  CLM__SLOT_READY,   /* complete, waits for the consumer */
  CLM__SLOT_HELD     /* the consumer has it */
} clm__slot_state;

typedef struct clm__slot {
  clm__slot_state state;
  size_t batch;
  size_t start; /* of its images in the plan's order */
  int planned;
  int claimed; /* images given to workers */
  int done;
  int error_at;    /* the lowest image that failed the pass; planned: none */
  clm_error error; /* of that image */
  float *pixels;
  int32_t *labels;
  uint32_t *samples;
  char **faults; /* [batch_max] why an image is missing; NULL: it is there */
} clm__slot;

typedef struct clm__worker {
  clm__loader *loader;
  clm__thread thread;
  int lane; /* of the loader's trace */
  clm__reader reader;
  clm__resize_scratch scratch;
} clm__worker;

struct clm__loader {
  clm__loader_config config;
  size_t values_each; /* of an image */
  clm__cache *cache;
  clm__worker *workers;
  int worker_count;
  clm__slot *slots;
  int slot_count;
  bool *warned; /* [dataset count]; the consumer's alone, as `failure` */
  clm_error failure;

  /* The lock guards all below and every slot's state; what a slot holds belongs to the workers
   * while it fills and to the consumer from then on. */
  pthread_mutex_t lock;
  pthread_cond_t work;  /* workers: there may be an image to claim */
  pthread_cond_t ready; /* consumer: a slot became ready, or no worker is busy any more */
  bool stopping;
  bool paused; /* no image may be claimed: the plan is being replaced */
  int busy;    /* workers with an image */
  uint32_t *order;
  size_t order_capacity;
  size_t *starts;
  size_t starts_capacity;
  size_t batch_count;
  size_t opened; /* batches that got a slot */
  size_t next;   /* batch to hand over */
  clm__loader_stats stats;
  clm__trace *trace; /* NULL: none is wanted */
};

/* What a worker thread runs; its argument is a clm__worker. */
void *clm__worker_run(void *argument);

#endif
