#include "launch/spec.h"

#include "launch/checker.h"
#include "launch/spec_rules.h"

#include <string.h>

/* What kind of document it is, told by its keys. */
typedef enum shape {
  SHAPE_POOLS,    /* a bare list */
  SHAPE_JOB_SPEC, /* CustomJobSpec, also the inputs of a TrainingPipeline alone */
  SHAPE_CUSTOM_JOB,
  SHAPE_PIPELINE
} shape;

static shape find_shape(const clm__json_at *root)
{
  const clm__json_at job = clm__checker_find(root, "job_spec");
  const clm__json_at inputs = clm__checker_find(root, "training_task_inputs");
  const clm__json_at pools = clm__checker_find(root, "worker_pool_specs");
  if (clm__json_kind_of(root) == CLM__JSON_LIST) return SHAPE_POOLS;
  if (inputs.value != NULL) return SHAPE_PIPELINE;
  if (job.value != NULL) return SHAPE_CUSTOM_JOB;
  if (pools.value != NULL) return SHAPE_JOB_SPEC;
  const clm__json_at name = clm__checker_find(root, "display_name");
  return name.value != NULL ? SHAPE_CUSTOM_JOB : SHAPE_JOB_SPEC;
}

static clm_status check_fields(clm__checker *checker, const clm__json_at *root, shape kind)
{
  static const clm__field pools = {.name = "worker_pool_specs",
                                   .kind = CLM__FIELD_MESSAGES,
                                   .flags = CLM__FIELD_REQUIRED,
                                   .message = &clm__message_pool,
                                   .high = CLM__POOLS_MAX};
  switch (kind) {
  case SHAPE_POOLS:
    CLM_TRY(clm__str_add(&checker->path, "worker_pool_specs"));
    return clm__checker_messages(checker, root, &pools);
  case SHAPE_JOB_SPEC:
    return clm__checker_message(checker, root, &clm__message_job_spec);
  case SHAPE_CUSTOM_JOB:
    return clm__checker_message(checker, root, &clm__message_custom_job);
  case SHAPE_PIPELINE:
    break;
  }
  return clm__checker_message(checker, root, &clm__message_pipeline);
}

static const char *read_text(const clm__json_at *object, const char *key)
{
  const clm__json_at at = clm__checker_find(object, key);
  const char *text = NULL;
  if (at.value == NULL || clm__json_get_text(&at, &text) != CLM_OK) return NULL;
  return text;
}

static int read_int(const clm__json_at *object, const char *key, int otherwise)
{
  const clm__json_at at = clm__checker_find(object, key);
  int64_t value = otherwise;
  if (at.value == NULL || !clm__checker_read_int(&at, &value)) return otherwise;
  return (int)value;
}

static clm_status read_words(const clm__json_at *object, const char *key, clm__words *words)
{
  const clm__json_at list = clm__checker_find(object, key);
  for (size_t i = 0; i < clm__json_count(&list); i++) {
    const clm__json_at item = clm__json_item(&list, i);
    const char *text = NULL;
    CLM_TRY(clm__json_get_text(&item, &text));
    CLM_TRY(clm__words_add(words, text));
  }
  return CLM_OK;
}

static clm_status read_env(const clm__json_at *container, clm__words *env)
{
  const clm__json_at list = clm__checker_find(container, "env");
  for (size_t i = 0; i < clm__json_count(&list); i++) {
    const clm__json_at item = clm__json_item(&list, i);
    const char *value = read_text(&item, "value");
    CLM_TRY(clm__words_addf(env, "%s=%s", read_text(&item, "name"), value != NULL ? value : ""));
  }
  return CLM_OK;
}

static clm_status read_pool(const clm__json_at *at, clm__spec_pool *pool)
{
  if (clm__json_count(at) == 0) return CLM_OK;
  const clm__json_at machine = clm__checker_find(at, "machine_spec");
  const clm__json_at container = clm__checker_find(at, "container_spec");
  const char *type = read_text(&machine, "machine_type");
  const char *image = read_text(&container, "image_uri");
  const char *accelerator = read_text(&machine, "accelerator_type");
  if (accelerator != NULL && strcmp(accelerator, "ACCELERATOR_TYPE_UNSPECIFIED") == 0)
    accelerator = NULL;
  pool->replicas = read_int(at, "replica_count", 1);
  pool->machine_type = type != NULL ? type : "";
  pool->image = image != NULL ? image : "";
  pool->accelerator_type = accelerator;
  pool->accelerators = read_int(&machine, "accelerator_count", 0);
  CLM_TRY(read_words(&container, "command", &pool->command));
  CLM_TRY(read_words(&container, "args", &pool->args));
  return read_env(&container, &pool->env);
}

static bool read_bool(const clm__json_at *object, const char *key)
{
  const clm__json_at at = clm__checker_find(object, key);
  bool value = false;
  return at.value != NULL && clm__json_get_bool(&at, &value) == CLM_OK && value;
}

static void read_scheduling(const clm__json_at *job, clm__spec *spec)
{
  const clm__json_at scheduling = clm__checker_find(job, "scheduling");
  const clm__json_at timeout = clm__checker_find(&scheduling, "timeout");
  const char *strategy = read_text(&scheduling, "strategy");
  if (timeout.value != NULL) (void)clm__checker_read_duration(&timeout, &spec->timeout_seconds);
  spec->disable_retries = read_bool(&scheduling, "disable_retries");
  spec->is_spot = strategy != NULL && strcmp(strategy, "SPOT") == 0;
}

static clm_status fill(const clm__json_at *root, const clm__json_at *job, clm__spec *spec)
{
  const clm__json_at pools =
      clm__json_kind_of(job) == CLM__JSON_LIST ? *job : clm__checker_find(job, "worker_pool_specs");
  const clm__json_at output = clm__checker_find(job, "base_output_directory");
  spec->job = job->value;
  spec->envelope = job->value != root->value ? root->value : NULL;
  spec->display_name = read_text(root, "display_name");
  spec->output_uri = read_text(&output, "output_uri_prefix");
  read_scheduling(job, spec);
  for (size_t i = 0; i < clm__json_count(&pools); i++) {
    const clm__json_at pool = clm__json_item(&pools, i);
    CLM_TRY(read_pool(&pool, &spec->pools[i]));
  }
  return CLM_OK;
}

#define NAME_CHARACTERS_MAX 128

static size_t count_characters(const char *text)
{
  size_t count = 0;
  for (; *text != '\0'; text++) count += ((unsigned char)*text & 0xC0) != 0x80;
  return count;
}

static void say_unused(const clm__checker *checker, const clm__spec_use *use)
{
  static const char *const names[] = {"local", "hosts", "slurm", "mpijob", "vertex"};
  if (use->engine == CLM_ENGINE_VERTEX || checker->for_vertex.length == 0) return;
  clm__report_add(checker->report, CLM_FINDING_NOTE, "", "not used by engine %s: %s",
                  names[use->engine], clm__str_get(&checker->for_vertex));
}

static clm_status check(const clm__json_at *root, const clm__spec_use *use, clm__report *report,
                        clm__spec *spec)
{
  const shape kind = find_shape(root);
  const char *envelope = kind == SHAPE_CUSTOM_JOB ? "job_spec"
                         : kind == SHAPE_PIPELINE ? "training_task_inputs"
                                                  : NULL;
  const clm__json_at job = envelope != NULL ? clm__checker_find(root, envelope) : *root;
  clm__checker checker = {.report = report};
  const clm_status status = check_fields(&checker, root, kind);
  const char *prefix = envelope == NULL           ? ""
                       : kind == SHAPE_CUSTOM_JOB ? "job_spec."
                                                  : "training_task_inputs.";
  clm__spec_rules(&job, prefix, use, report);
  const clm__json_at name = clm__checker_find(root, "display_name");
  const char *text = NULL;
  if (clm__json_kind_of(&name) == CLM__JSON_TEXT && clm__json_get_text(&name, &text) == CLM_OK &&
      count_characters(text) > NAME_CHARACTERS_MAX)
    clm__report_add(report, CLM_FINDING_ERROR, "display_name", "more than %d characters",
                    NAME_CHARACTERS_MAX);
  if (status == CLM_OK) say_unused(&checker, use);
  clm__checker_fini(&checker);
  CLM_TRY(status);
  return report->error_count == 0 ? fill(root, &job, spec) : CLM_OK;
}

clm_status clm__spec_read(const char *text, const char *what, const clm__spec_use *use,
                          clm__report *report, clm__spec *spec)
{
  *spec = (clm__spec){0};
  CLM_TRY(clm__json_parse(text, strlen(text), what, &spec->document));
  const clm__json_at root = clm__json_root(spec->document);
  clm_status status = check(&root, use, report, spec);
  const int count = report->error_count;
  if (status == CLM_OK && count > 0)
    status = clm__error_fail(CLM_BAD_DATA, __FILE__, __LINE__, __func__,
                             "%s cannot be launched: %d mistake%s in it", what, count,
                             count == 1 ? "" : "s");
  if (status != CLM_OK) clm__spec_fini(spec);
  return status;
}

void clm__spec_fini(clm__spec *spec)
{
  for (size_t i = 0; i < CLM__POOLS_MAX; i++) {
    clm__words_fini(&spec->pools[i].command);
    clm__words_fini(&spec->pools[i].args);
    clm__words_fini(&spec->pools[i].env);
  }
  if (spec->document != NULL) clm__json_free(spec->document);
  *spec = (clm__spec){0};
}
