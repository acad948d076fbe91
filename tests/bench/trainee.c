#include "bench/trainee.h"

#include "base/mem.h"
#include "base/rng.h"
#include "bench/nets.h"
#include "sys/file.h"
#include "sys/thread.h"
#include "train/session_model.h"

/* Smooth blots in the colours of a class, so that the activations are those of photographs rather
 * than of noise: most places of a feature map are then zero or have one clear winner. */
static void draw_image(float *pixels, int side, int label, uint32_t image)
{
  uint32_t bits[4];
  clm__rng_block(1, CLM__RNG_TEST, 0, image, bits);
  const float cx = clm__rng_unit(bits[0]) * (float)side, cy = clm__rng_unit(bits[1]) * (float)side;
  const float size = (0.1F + 0.3F * clm__rng_unit(bits[2])) * (float)side;
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++) {
      const float dx = ((float)x - cx) / size, dy = ((float)y - cy) / size;
      const float light = 1.0F / (1.0F + dx * dx + dy * dy);
      clm__rng_block(2, CLM__RNG_TEST, image, (uint64_t)(y * side + x), bits);
      for (int c = 0; c < 3; c++) {
        const float tint = c == label % 3 ? 220.0F : 60.0F + 20.0F * (float)label;
        pixels[(y * side + x) * 3 + c] = tint * light + 30.0F * clm__rng_unit(bits[c]);
      }
    }
}

static clm_status draw_batch(bench_trainee *trainee)
{
  const clm__shape *shape = &trainee->model.graph->input_shape;
  const size_t count = (size_t)trainee->batch, elements = clm__shape_elements(shape);
  CLM_TRY(clm__mem_alloc_aligned(count * elements * sizeof(float), &trainee->pixels));
  CLM_TRY(clm__mem_alloc(count, sizeof *trainee->labels, &trainee->labels));
  CLM_TRY(clm__mem_alloc(count, sizeof *trainee->image_ids, &trainee->image_ids));
  CLM_TRY(clm__mem_alloc(count * NET_CLASSES, sizeof(float), &trainee->probabilities));
  for (size_t i = 0; i < count; i++) {
    trainee->labels[i] = (int32_t)(i % NET_CLASSES);
    trainee->image_ids[i] = (uint32_t)i;
    draw_image(trainee->pixels + i * elements, shape->dims[0], trainee->labels[i], (uint32_t)i);
  }
  return CLM_OK;
}

clm_status trainee_open(bench_trainee *trainee, const trainee_config *config)
{
  *trainee = (bench_trainee){.batch = config->batch};
  clm__model_file *model = &trainee->model;
  CLM_TRY(net_create(config->net, &model->graph));
  CLM_TRY(clm__weights_create(model->graph, &model->weights));
  clm__weights_initialize(model->weights, 1);
  const clm_train_config training = clm_train_config_default();
  CLM_TRY(clm__session_compile(&training, model));
  CLM_TRY(draw_batch(trainee));
  if (config->use == TRAINEE_FEEDS) return CLM_OK;
  clm__replica_config replica = {.device = config->device,
                                 .graph = model->graph,
                                 .weights = model->weights,
                                 .batch_max = config->batch,
                                 .tune = config->tune,
                                 .variant = config->variant,
                                 .threads = clm__thread_processors()};
  if (config->use == TRAINEE_TRAINS) {
    replica.loss = model->compile.loss;
    replica.loss_attributes = model->compile.loss_attributes;
    replica.optim_state = model->optim_state;
  }
  CLM_TRY(clm__replica_create(&replica, &trainee->replica));
  CLM_TRY(clm__replica_write_weights(trainee->replica, model->weights->values));
  if (config->use == TRAINEE_PREDICTS) return CLM_OK;
  return clm__replica_write_slots(trainee->replica, model->optim_state);
}

void trainee_close(bench_trainee *trainee)
{
  clm__replica_destroy(trainee->replica);
  clm__model_file_fini(&trainee->model);
  clm__mem_free(trainee->pixels);
  clm__mem_free(trainee->labels);
  clm__mem_free(trainee->image_ids);
  clm__mem_free(trainee->probabilities);
  *trainee = (bench_trainee){0};
}

static clm__replica_input input_of(const bench_trainee *trainee)
{
  return (clm__replica_input){.pixels = trainee->pixels,
                              .labels = trainee->labels,
                              .image_ids = trainee->image_ids,
                              .count = trainee->batch};
}

clm_status trainee_step(bench_trainee *trainee)
{
  clm__optim_state *optim = trainee->model.optim_state;
  const clm__replica_input input = input_of(trainee);
  const clm__replica_update_args update = {.gradient_scale = 1.0F / (float)trainee->batch,
                                           .learning_rate = optim->learning_rate,
                                           .iterations = optim->iterations};
  clm__replica_result result;
  CLM_TRY(clm__replica_compute(trainee->replica, &input));
  CLM_TRY(clm__replica_update(trainee->replica, &update));
  CLM_TRY(clm__replica_finish(trainee->replica, &result));
  CLM_REQUIRE(result.is_finite, CLM_DIVERGED, "the measured network's loss is not finite");
  optim->iterations++;
  trainee->loss = result.loss_sum / trainee->batch;
  return CLM_OK;
}

clm_status trainee_predict(bench_trainee *trainee)
{
  clm__replica_input input = input_of(trainee);
  input.labels = NULL;
  input.image_ids = NULL;
  return clm__replica_predict(trainee->replica, &input, trainee->probabilities);
}

clm_status trainee_write_pixels(const bench_trainee *trainee, const char *path)
{
  const size_t elements = clm__shape_elements(&trainee->model.graph->input_shape);
  return clm__file_write(path, trainee->pixels,
                         elements * (size_t)trainee->batch * sizeof *trainee->pixels);
}
