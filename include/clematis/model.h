/* Models: reading, describing, evaluating, predicting. */
#ifndef CLEMATIS_MODEL_H
#define CLEMATIS_MODEL_H

#include "clematis/data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clm_model clm_model;

/* Reads a .keras file or the text of model.to_json(). *model is taken by the caller. Errors:
 * NO_INPUT, BAD_DATA, UNSUPPORTED. */
CLM_API CLM_MUST_CHECK clm_status clm_model_load(const char *path, const clm_log *log,
                                                 clm_model **model);
/* Frees a model; takes NULL. */
CLM_API void clm_model_destroy(clm_model *model);

/* Keras' summary table for a terminal of that many columns (80 where unknown). *text is taken by
 * the caller: clm_text_free. Errors: NO_MEMORY. */
CLM_API CLM_MUST_CHECK clm_status clm_model_summary(const clm_model *model, int columns,
                                                    char **text);
/* Frees a text that the library gave; takes NULL. */
CLM_API void clm_text_free(char *text);

/* The model's input. */
CLM_API void clm_model_input_size(const clm_model *model, int *height, int *width, int *channels);
/* The number of classes: the length of its output. */
CLM_API int clm_model_class_count(const clm_model *model);
/* The name of a class, NULL where the file has none; borrowed from the model. */
CLM_API const char *clm_model_class_name(const clm_model *model, int index);

/* How a model runs. Begin with clm_run_config_default(). */
typedef struct clm_run_config {
  const char *devices;   /* NULL: every GPU, or the CPU where there is none */
  const char *variant;   /* forces kernels: "plain", "conv2d=gemm,dense.bwd_w=cpu"; NULL: chosen */
  const char *tuning;    /* file of tuning values; NULL: the user's */
  int batch_size;        /* 32 */
  int no_kernel_cache;   /* 1: keep no kernel binaries on disk */
  const clm_log *log;
} clm_run_config;

/* All defaults. */
CLM_API clm_run_config clm_run_config_default(void);

typedef struct clm_evaluation {
  double loss;
  double accuracy;
  size_t images;
  double seconds;        /* of the device's passes and waiting for data, without start-up */
} clm_evaluation;

typedef enum clm_subset {
  CLM_SUBSET_ALL,
  CLM_SUBSET_TRAINING,
  CLM_SUBSET_VALIDATION
} clm_subset;

/* Loss and accuracy over a folder whose class folders match the model's classes in number (and in
 * name where the file has names). Errors: as clm_model_load, clm_data_check and the devices'. */
CLM_API CLM_MUST_CHECK clm_status clm_model_evaluate(const clm_model *model,
                                                     const clm_data_config *data,
                                                     clm_subset subset,
                                                     const clm_run_config *run,
                                                     clm_evaluation *result);

/* Probabilities of image files: [count, classes] floats into probabilities, the caller's. An image
 * that cannot be decoded is an error. */
CLM_API CLM_MUST_CHECK clm_status clm_model_predict(const clm_model *model,
                                                    const char *const *paths, size_t count,
                                                    const clm_data_config *data,
                                                    const clm_run_config *run,
                                                    float *probabilities);

#ifdef __cplusplus
}
#endif
#endif
