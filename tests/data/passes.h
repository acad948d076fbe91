/* A folder with every golden picture that can be read, and passes of a loader over it. */
#ifndef CLM_TESTS_DATA_PASSES_H
#define CLM_TESTS_DATA_PASSES_H

#include "data/loader.h"

#define HEIGHT 12
#define WIDTH 10
#define EACH (HEIGHT * WIDTH * 3)
#define COUNT 47 /* golden sources that can be read */

/* The pictures of the running test. */
extern clm__dataset *dataset;

/* A test with a fresh copy of the folder. */
#define LOADER_TEST(function)                                                                      \
  cmocka_unit_test_setup_teardown(function, set_up_pictures, tear_down_pictures)
int set_up_pictures(void **state);
int tear_down_pictures(void **state);

/* The path of a sample's file. */
void sample_path(uint32_t index, char path[2048]);

/* 3 threads, 3 slots of 8 pictures, no cache. */
clm__loader_config default_config(void);
clm__loader *create_loader(const clm__loader_config *config);

typedef struct pass_plan {
  uint32_t order[COUNT];
  size_t starts[COUNT + 2];
  size_t batch_count;
} pass_plan;

/* All pictures in an order of the epoch, in batches of this size. */
pass_plan make_plan(uint32_t epoch, size_t batch);

void begin_pass(clm__loader *loader, const pass_plan *plan);
clm__batch next_batch(clm__loader *loader);

/* A batch holds the images of the plan in its order, but for those that are `missing` (or NULL). */
void assert_batch(const clm__batch *batch, const pass_plan *plan, double tolerance,
                  const bool *missing);

/* A whole pass, every batch of it compared. */
void run_pass(clm__loader *loader, const pass_plan *plan, double tolerance, const bool *missing);

#endif
