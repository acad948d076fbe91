#include "base/mem.h"
#include "base/num.h"
#include "sys/file.h"
#include "train/data_source.h"
#include "train/inference.h"

/* The largest file read as a picture. */
#define FILE_LIMIT_BYTES ((size_t)1 << 30)

typedef struct prediction {
  clm__decode_options decode;
  clm__resize_config resize;
  size_t batch;        /* images at once */
  size_t image_floats; /* of one image */
  size_t classes;
  float *pixels; /* [batch, image_floats] */
} prediction;

static clm_status read_picture(const prediction *job, const char *path, float *pixels)
{
  char *content = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__file_read(path, FILE_LIMIT_BYTES, &content, &size_bytes));
  clm__image image = {0};
  clm_status status = clm__decode(content, size_bytes, &job->decode, &image);
  clm__mem_free(content);
  if (status != CLM_OK) return clm__error_prefix(status, "%s: ", path);
  status = clm__resize(&image, &job->resize, pixels);
  clm__image_fini(&image);
  return status;
}

static clm_status predict_all(const prediction *job, clm__replica *replica,
                              const char *const *paths, size_t count, float *probabilities)
{
  for (size_t done = 0; done < count; done += job->batch) {
    const size_t now = clm__min_size(job->batch, count - done);
    for (size_t i = 0; i < now; i++)
      CLM_TRY(read_picture(job, paths[done + i], job->pixels + i * job->image_floats));
    const clm__replica_input input = {.pixels = job->pixels, .count = (int)now};
    CLM_TRY(clm__replica_predict(replica, &input, probabilities + done * job->classes));
  }
  return CLM_OK;
}

clm_status clm_model_predict(const clm_model *model, const char *const *paths, size_t count,
                             const clm_data_config *data, const clm_run_config *run,
                             float *probabilities)
{
  CLM_REQUIRE(run->batch_size >= 1, CLM_USAGE, "the batch size is %d; it must be at least 1",
              run->batch_size);
  CLM_TRY(clm__choice_check(run->variant));
  if (count == 0) return CLM_OK;
  const clm__shape *input = &model->file.graph->input_shape;
  prediction job = {.decode = clm__data_source_decode(data, input),
                    .resize = clm__data_source_resize(data, input),
                    .batch = clm__min_size((size_t)run->batch_size, count),
                    .image_floats = clm__shape_elements(input),
                    .classes = (size_t)clm_model_class_count(model)};
  CLM_TRY(clm__mem_alloc_aligned(job.batch * job.image_floats * sizeof(float), &job.pixels));
  clm__inference inference;
  clm_status status = clm__inference_open(&inference, model, run, (int)job.batch, false);
  if (status == CLM_OK) status = predict_all(&job, inference.replica, paths, count, probabilities);
  clm__inference_close(&inference);
  clm__mem_free(job.pixels);
  return status;
}
