#include "launch/engine_vertex.h"

#include "base/mem.h"
#include "launch/checker.h"
#include "launch/json_text.h"

#include <string.h>

/* What the options add to every container. */
typedef struct additions {
  const clm_launch_config *config;
  clm__json_writer *json;
} additions;

static clm_status put_message(const additions *add, const char *key, const clm__json_at *at,
                              const clm__message *message);

static clm_status put_raw(const additions *add, const char *key, const clm__json_at *at)
{
  char *text = NULL;
  CLM_TRY(clm__json_dump(at, &text));
  clm__json_put_raw(add->json, key, text);
  clm__mem_free(text);
  return CLM_OK;
}

static clm_status put_duration(const additions *add, const char *key, const clm__json_at *at)
{
  double seconds = 0.0;
  clm__str text = {0};
  (void)clm__checker_read_duration(at, &seconds);
  CLM_TRY(clm__str_add(&text, "%.12gs", seconds));
  clm__json_put_text(add->json, key, clm__str_get(&text));
  clm__str_fini(&text);
  return CLM_OK;
}

static clm_status put_field(const additions *add, const clm__field *field, const clm__json_at *at)
{
  char key[CLM__FIELD_NAME_SIZE];
  int64_t number = 0;
  clm__field_to_camel(field->name, key);
  switch (field->kind) {
  case CLM__FIELD_INT:
    (void)clm__checker_read_int(at, &number);
    clm__json_put_int(add->json, key, number);
    return CLM_OK;
  case CLM__FIELD_DURATION:
    return put_duration(add, key, at);
  case CLM__FIELD_MESSAGE:
    return put_message(add, key, at, field->message);
  case CLM__FIELD_MESSAGES:
    clm__json_begin_list(add->json, key);
    for (size_t i = 0; i < clm__json_count(at); i++) {
      const clm__json_at item = clm__json_item(at, i);
      CLM_TRY(put_message(add, NULL, &item, field->message));
    }
    clm__json_end_list(add->json);
    return CLM_OK;
  default:
    return put_raw(add, key, at);
  }
}

/* The container's own arguments, then those of the command line. */
static clm_status put_args(const additions *add, const clm__json_at *container)
{
  const clm__json_at args = clm__checker_find(container, "args");
  const clm_texts *more = &add->config->arguments;
  if (clm__json_count(&args) == 0 && more->count == 0) return CLM_OK;
  clm__json_begin_list(add->json, "args");
  for (size_t i = 0; i < clm__json_count(&args); i++) {
    const clm__json_at item = clm__json_item(&args, i);
    CLM_TRY(put_raw(add, NULL, &item));
  }
  for (int i = 0; i < more->count; i++) clm__json_put_text(add->json, NULL, more->items[i]);
  clm__json_end_list(add->json);
  return CLM_OK;
}

static clm_status put_variable(const additions *add, const char *item)
{
  const size_t length = strcspn(item, "=");
  clm__str name = {0};
  CLM_TRY(clm__str_add_bytes(&name, item, length));
  clm__json_begin_object(add->json, NULL);
  clm__json_put_text(add->json, "name", clm__str_get(&name));
  clm__json_put_text(add->json, "value", item[length] == '=' ? item + length + 1 : "");
  clm__json_end_object(add->json);
  clm__str_fini(&name);
  return CLM_OK;
}

static clm_status put_env(const additions *add, const clm__json_at *container)
{
  const clm__json_at env = clm__checker_find(container, "env");
  const clm_texts *more = &add->config->env;
  if (clm__json_count(&env) == 0 && more->count == 0) return CLM_OK;
  clm__json_begin_list(add->json, "env");
  for (size_t i = 0; i < clm__json_count(&env); i++) {
    const clm__json_at item = clm__json_item(&env, i);
    CLM_TRY(put_raw(add, NULL, &item));
  }
  for (int i = 0; i < more->count; i++) CLM_TRY(put_variable(add, more->items[i]));
  clm__json_end_list(add->json);
  return CLM_OK;
}

static clm_status put_message(const additions *add, const char *key, const clm__json_at *at,
                              const clm__message *message)
{
  const bool is_container = strcmp(message->name, "ContainerSpec") == 0;
  clm__json_begin_object(add->json, key);
  for (size_t i = 0; i < message->count; i++) {
    const clm__field *field = &message->fields[i];
    const clm__json_at value = clm__checker_find(at, field->name);
    const bool is_merged =
        is_container && (strcmp(field->name, "args") == 0 || strcmp(field->name, "env") == 0);
    if (value.value == NULL || is_merged || (field->flags & CLM__FIELD_SERVICE) != 0) continue;
    CLM_TRY(put_field(add, field, &value));
  }
  if (is_container) CLM_TRY(put_args(add, at));
  if (is_container) CLM_TRY(put_env(add, at));
  clm__json_end_object(add->json);
  return CLM_OK;
}

/* The options win over the document. */
static clm_status put_job_spec(const additions *add, const clm__spec *spec)
{
  const clm_launch_config *config = add->config;
  const clm__json_at job = {.value = spec->job};
  const bool is_list = clm__json_kind_of(&job) == CLM__JSON_LIST;
  const clm__message *message = &clm__message_job_spec;
  clm__json_begin_object(add->json, "jobSpec");
  for (size_t i = 0; i < message->count; i++) {
    const clm__field *field = &message->fields[i];
    const bool is_pools = strcmp(field->name, "worker_pool_specs") == 0;
    const bool is_output = strcmp(field->name, "base_output_directory") == 0;
    const clm__json_at value = is_list && is_pools ? job : clm__checker_find(&job, field->name);
    if (is_output && config->base_output_dir != NULL) {
      clm__json_begin_object(add->json, "baseOutputDirectory");
      clm__json_put_text(add->json, "outputUriPrefix", config->base_output_dir);
      clm__json_end_object(add->json);
    } else if (value.value != NULL) {
      CLM_TRY(put_field(add, field, &value));
    }
  }
  clm__json_end_object(add->json);
  return CLM_OK;
}

static clm_status put_body(const additions *add, const clm__spec *spec)
{
  static const char *const kept[] = {"labels", "encryption_spec"};
  const clm__json_at envelope = {.value = spec->envelope};
  const char *name = add->config->name != NULL ? add->config->name : spec->display_name;
  clm__json_begin_object(add->json, NULL);
  clm__json_put_text(add->json, "displayName", name != NULL ? name : "clematis");
  CLM_TRY(put_job_spec(add, spec));
  for (size_t i = 0; i < 2; i++) {
    const clm__field *field = clm__field_find(&clm__message_custom_job, kept[i]);
    const clm__json_at value = clm__checker_find(&envelope, kept[i]);
    if (value.value != NULL) CLM_TRY(put_field(add, field, &value));
  }
  clm__json_end_object(add->json);
  return CLM_OK;
}

clm_status clm__engine_vertex(const clm__spec *spec, const clm_launch_config *config,
                              clm__str *body)
{
  clm__json_writer json = {0};
  const additions add = {.config = config, .json = &json};
  clm_status status = put_body(&add, spec);
  if (status != CLM_OK) {
    clm__json_writer_fini(&json);
    return status;
  }
  char *text = NULL;
  CLM_TRY(clm__json_take(&json, &text));
  status = clm__json_text_add(text, false, body);
  clm__mem_free(text);
  return status;
}
