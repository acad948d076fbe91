#include "op/variant.h"

#include "base/mem.h"
#include "base/str.h"
#include "dev/blas.h"
#include "op/build.h"

#include <stdio.h>
#include <string.h>

const char *clm__pass_name(clm__pass pass)
{
  static const char *const names[CLM__PASS_COUNT] = {"fwd", "bwd_x", "bwd_w"};
  return names[pass];
}

bool clm__problem_has_pass(const clm__problem *problem, clm__pass pass)
{
  if (problem->op->variants == NULL) return false;
  if (pass == CLM__FORWARD) return true;
  if (pass == CLM__BACKWARD_X) return problem->need_dx != 0;
  for (int i = 0; i < problem->spec.param_count; i++)
    if (problem->spec.params[i].trainable && !problem->frozen) return true;
  return false;
}

bool clm__variant_is_usable(const clm__variant *variant, const clm__problem *problem,
                            clm__pass pass, const clm__device_info *info)
{
  if ((variant->passes & (1U << pass)) == 0) return false;
  if (variant->uses_blas && info->has_wrong_products) return false;
  return variant->usable == NULL || variant->usable(problem, pass, info);
}

bool clm__variant_is_offered(const clm__variant *variant, const clm__problem *problem,
                             clm__pass pass, const clm__device_info *info)
{
  if (variant->for_gpus && info->kind == CLM__DEVICE_CPU) return false;
  return clm__variant_is_usable(variant, problem, pass, info);
}

static bool is_usable(const clm__instance *instance, const clm__variant *variant)
{
  return clm__variant_is_usable(variant, instance->problem, instance->pass,
                                &instance->device->info);
}

static const clm__variant *find_usable(const clm__instance *instance, const char *name)
{
  const clm__variant *const *at = instance->problem->op->variants;
  for (; *at != NULL; at++)
    if (strcmp((*at)->name, name) == 0 && is_usable(instance, *at)) return *at;
  return NULL;
}

static const clm__variant *find_offered(const clm__instance *instance)
{
  const clm__variant *const *at = instance->problem->op->variants;
  for (; *at != NULL; at++)
    if (clm__variant_is_offered(*at, instance->problem, instance->pass, &instance->device->info) &&
        ((*at)->worth_it == NULL || (*at)->worth_it(instance->problem, instance->pass)))
      return *at;
  return NULL;
}

/* Fails with the names that could have been asked for. */
static clm_status refuse_forced(const clm__instance *instance, const char *forced)
{
  const clm__op *op = instance->problem->op;
  clm__str names = {0};
  clm_status status = CLM_OK;
  for (const clm__variant *const *at = op->variants; *at != NULL && status == CLM_OK; at++)
    if (is_usable(instance, *at))
      status = clm__str_add(&names, "%s%s", names.length > 0 ? ", " : "", (*at)->name);
  if (status == CLM_OK)
    status = clm__error_fail(CLM_USAGE, __FILE__, __LINE__, __func__,
                             "variant %s cannot be used for %s.%s on device %s; usable are: %s",
                             forced, op->name, clm__pass_name(instance->pass),
                             instance->device->info.id, clm__str_get(&names));
  clm__str_fini(&names);
  return status;
}

/* Shapes of input and output, and the window of weights, if any: together they tell kernel size and
 * strides as well. */
void clm__variant_key_of(const clm__problem *problem, clm__pass pass, clm__variant_key *key)
{
  char input[CLM__SHAPE_TEXT_SIZE], output[CLM__SHAPE_TEXT_SIZE], window[32] = "";
  const clm__shape *weights = &problem->spec.params[0].shape;
  if (problem->spec.param_count > 0 && weights->rank == 4)
    (void)snprintf(window, sizeof window, "/%dx%d", weights->dims[0], weights->dims[1]);
  (void)snprintf(key->op_pass, sizeof key->op_pass, "%s.%s", problem->op->name,
                 clm__pass_name(pass));
  const int length = snprintf(key->shape, sizeof key->shape, "%s-%s%s",
                              clm__shape_text(&problem->inputs[0], input),
                              clm__shape_text(&problem->spec.output, output), window);
  CLM_ASSERT(length > 0 && (size_t)length < sizeof key->shape);
}

static clm_status choose(clm__instance *instance, const clm__tune *tune, const char *forced)
{
  clm__tune_values values = {0};
  clm__variant_key key;
  clm__variant_key_of(instance->problem, instance->pass, &key);
  clm__tune_find(tune, &instance->device->info, key.op_pass, key.shape, &values);
  const char *recorded = values.variant[0] != '\0' ? values.variant : NULL;
  const clm__variant *variant = NULL;
  if (forced != NULL) {
    variant = find_usable(instance, forced);
    if (variant == NULL) return refuse_forced(instance, forced);
  }
  if (variant == NULL && recorded != NULL) variant = find_usable(instance, recorded);
  if (variant == NULL) variant = find_offered(instance);
  CLM_REQUIRE(variant != NULL, CLM_INTERNAL, "op %s has no variant for %s",
              instance->problem->op->name, clm__pass_name(instance->pass));
  instance->variant = variant;
  if (recorded != NULL && strcmp(recorded, variant->name) == 0) instance->tuning = values;
  return CLM_OK;
}

static clm_status give_up(clm__instance *instance, clm_status status)
{
  clm__instance_fini(instance);
  return clm__error_pass(status, __FILE__, __LINE__, __func__);
}

clm_status clm__instance_choose(clm__instance *instance, const clm__problem *problem,
                                clm__pass pass, clm__device *device, const clm__tune *tune,
                                const char *forced)
{
  CLM_ASSERT(clm__problem_has_pass(problem, pass));
  CLM_ASSERT(problem->batch_max >= 1);
  *instance = (clm__instance){.problem = problem, .pass = pass, .device = device};
  clm_status status = choose(instance, tune, forced);
  if (status == CLM_OK && instance->variant->uses_blas) status = clm__blas_prepare(device, tune);
  if (status == CLM_OK) status = instance->variant->prepare(instance);
  return status == CLM_OK ? CLM_OK : give_up(instance, status);
}

static clm_status build_wish(clm__instance *instance, int index)
{
  clm__kernel_wish *wish = &instance->wishes[index];
  const clm__build build = {.file = wish->file,
                            .options = wish->options,
                            .variant = instance->variant->name,
                            .kernel = wish->name};
  CLM_TRY(clm__build_kernel(instance->device, &build, &instance->kernels[index]));
  clm__mem_free(wish->options);
  wish->options = NULL;
  return CLM_OK;
}

clm_status clm__instance_build(clm__instance *instance)
{
  for (int i = 0; i < instance->kernel_count; i++)
    if (instance->wishes[i].options != NULL) CLM_TRY(build_wish(instance, i));
  return CLM_OK;
}

clm_status clm__instance_init(clm__instance *instance, const clm__problem *problem, clm__pass pass,
                              clm__device *device, const clm__tune *tune, const char *forced)
{
  CLM_TRY(clm__instance_choose(instance, problem, pass, device, tune, forced));
  const clm_status status = clm__instance_build(instance);
  return status == CLM_OK ? CLM_OK : give_up(instance, status);
}

clm_status clm__instance_init_with(clm__instance *instance, const clm__problem *problem,
                                   clm__pass pass, clm__device *device,
                                   const clm__tune_values *values)
{
  CLM_ASSERT(clm__problem_has_pass(problem, pass));
  *instance =
      (clm__instance){.problem = problem, .pass = pass, .device = device, .tuning = *values};
  instance->variant = find_usable(instance, values->variant);
  if (instance->variant == NULL) return refuse_forced(instance, values->variant);
  clm_status status = instance->variant->prepare(instance);
  if (status == CLM_OK) status = clm__instance_build(instance);
  return status == CLM_OK ? CLM_OK : give_up(instance, status);
}

void clm__instance_fini(clm__instance *instance)
{
  for (int i = 0; i < instance->kernel_count; i++) {
    clm__kernel_fini(&instance->kernels[i]);
    clm__mem_free(instance->wishes[i].options);
  }
  *instance = (clm__instance){0};
}

/* Whether the options have "-DNAME=" for the define that begins with NAME. */
static bool has_define(const char *options, const char *define)
{
  char word[CLM__TUNE_DEFINES_SIZE + 4];
  (void)snprintf(word, sizeof word, "-D%.*s=", (int)strcspn(define, "="), define);
  return strstr(options, word) != NULL;
}

/* Adds the values "TILE=4 VEC=8" as "-DTILE=4 -DVEC=8". What a variant has made of a value already
 * counts: it may have seen that another one fits. */
static clm_status add_defines(clm__str *options, const char *defines)
{
  while (*defines != '\0') {
    const int length = (int)strcspn(defines, " ");
    if (length > 0 && !has_define(clm__str_get(options), defines))
      CLM_TRY(clm__str_add(options, " -D%.*s", length, defines));
    defines += length;
    defines += strspn(defines, " ");
  }
  return CLM_OK;
}

clm_status clm__instance_add_kernel(clm__instance *instance, const char *file, const char *options,
                                    const char *name)
{
  CLM_ASSERT(instance->kernel_count < CLM__KERNELS_MAX);
  clm__kernel_wish *wish = &instance->wishes[instance->kernel_count];
  clm__str text = {0};
  clm_status status = clm__str_add(&text, "%s", options);
  if (status == CLM_OK) status = add_defines(&text, instance->tuning.defines);
  if (status == CLM_OK) status = clm__str_take(&text, &wish->options);
  clm__str_fini(&text);
  CLM_TRY(status);
  wish->file = file;
  wish->name = name;
  instance->kernel_count++;
  return CLM_OK;
}

clm_status clm__instance_enqueue(clm__instance *instance, const clm__op_args *args)
{
  CLM_ASSERT(args->batch >= 1 || args->half == CLM__SECOND_HALF);
  CLM_ASSERT(args->batch <= instance->problem->batch_max);
  CLM_ASSERT(args->half == CLM__WHOLE || instance->joint.kind != CLM__JOINT_NONE);
  CLM_TRY(instance->variant->enqueue(instance, args));
  return CLM_OK;
}
