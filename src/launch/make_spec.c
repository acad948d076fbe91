#include "launch/make_spec.h"

#include "base/nearest.h"
#include "io/json.h"

#include <stdlib.h>
#include <string.h>

/* A pool as the options say it. Texts are not terminated: they end at a comma. */
typedef struct wanted_pool {
  char machine_type[64];
  char accelerator_type[64];
  char image[256];
  long replicas;
  long accelerators; /* -1: not given */
} wanted_pool;

static void put_pool(clm__json_writer *writer, const wanted_pool *pool)
{
  clm__json_begin_object(writer, NULL);
  clm__json_put_int(writer, "replica_count", pool->replicas);
  clm__json_begin_object(writer, "machine_spec");
  if (pool->machine_type[0] != '\0') clm__json_put_text(writer, "machine_type", pool->machine_type);
  if (pool->accelerator_type[0] != '\0')
    clm__json_put_text(writer, "accelerator_type", pool->accelerator_type);
  if (pool->accelerators > 0) clm__json_put_int(writer, "accelerator_count", pool->accelerators);
  clm__json_end_object(writer);
  clm__json_begin_object(writer, "container_spec");
  if (pool->image[0] != '\0') clm__json_put_text(writer, "image_uri", pool->image);
  clm__json_end_object(writer);
  clm__json_end_object(writer);
}

static clm_status copy(const char *what, const char *text, size_t length, char *place, size_t size)
{
  CLM_REQUIRE(length > 0, CLM_USAGE, "%s: the value is empty", what);
  CLM_REQUIRE(length < size, CLM_USAGE, "%s: '%.40s...' is too long", what, text);
  memcpy(place, text, length);
  place[length] = '\0';
  return CLM_OK;
}

static clm_status read_count(const char *what, const char *text, size_t length, long *count)
{
  char digits[12];
  CLM_TRY(copy(what, text, length, digits, sizeof digits));
  char *end = NULL;
  const long value = strtol(digits, &end, 10);
  CLM_REQUIRE(*end == '\0' && value >= 0, CLM_USAGE, "%s: '%s' is no whole number", what, digits);
  *count = value;
  return CLM_OK;
}

/* Reads one KEY=VALUE of gcloud's form. */
static clm_status read_pair(const char *text, size_t length, wanted_pool *pool)
{
  static const char *const keys[] = {"machine-type", "replica-count", "accelerator-type",
                                     "accelerator-count", "container-image-uri"};
  char key[32];
  const char *equals = memchr(text, '=', length);
  CLM_REQUIRE(equals != NULL, CLM_USAGE, "--worker-pool-spec: '%.*s' is no KEY=VALUE", (int)length,
              text);
  CLM_TRY(copy("--worker-pool-spec", text, (size_t)(equals - text), key, sizeof key));
  const char *value = equals + 1;
  const size_t left = length - (size_t)(value - text);
  clm__near near = {.wanted = key};
  size_t index = 0;
  while (index < 5 && strcmp(keys[index], key) != 0) clm__near_try(&near, keys[index++]);
  switch (index) {
  case 0:
    return copy("machine-type", value, left, pool->machine_type, sizeof pool->machine_type);
  case 1:
    return read_count("replica-count", value, left, &pool->replicas);
  case 2:
    return copy("accelerator-type", value, left, pool->accelerator_type,
                sizeof pool->accelerator_type);
  case 3:
    return read_count("accelerator-count", value, left, &pool->accelerators);
  case 4:
    return copy("container-image-uri", value, left, pool->image, sizeof pool->image);
  default:
    break;
  }
  const char *meant = clm__near_found(&near);
  if (meant != NULL)
    CLM_FAIL(CLM_USAGE, "--worker-pool-spec has no key '%s'; did you mean %s?", key, meant);
  CLM_FAIL(CLM_USAGE,
           "--worker-pool-spec has no key '%s' here; it takes machine-type, replica-count, "
           "accelerator-type, accelerator-count and container-image-uri",
           key);
}

static clm_status read_pool(const char *text, wanted_pool *pool)
{
  *pool = (wanted_pool){.replicas = 1, .accelerators = -1};
  while (*text != '\0') {
    const size_t length = strcspn(text, ",");
    CLM_TRY(read_pair(text, length, pool));
    text += length + (text[length] == ',');
  }
  /* gcloud's default where a type is given. */
  if (pool->accelerators < 0) pool->accelerators = pool->accelerator_type[0] != '\0' ? 1 : 0;
  return CLM_OK;
}

static clm_status put_pools(const clm_launch_config *config, clm__json_writer *writer)
{
  for (int i = 0; i < config->pool_specs.count; i++) {
    wanted_pool pool;
    CLM_TRY(read_pool(config->pool_specs.items[i], &pool));
    if (pool.image[0] == '\0' && config->image != NULL)
      CLM_TRY(copy("--image", config->image, strlen(config->image), pool.image, sizeof pool.image));
    put_pool(writer, &pool);
  }
  return CLM_OK;
}

/* N replicas are a chief and N-1 workers, as the Python SDK makes them. */
static clm_status put_short_form(const clm_launch_config *config, clm__json_writer *writer)
{
  wanted_pool pool = {.replicas = 1, .accelerators = config->accelerator_count};
  if (config->machine_type != NULL)
    CLM_TRY(copy("--machine-type", config->machine_type, strlen(config->machine_type),
                 pool.machine_type, sizeof pool.machine_type));
  if (config->accelerator_type != NULL)
    CLM_TRY(copy("--accelerator-type", config->accelerator_type, strlen(config->accelerator_type),
                 pool.accelerator_type, sizeof pool.accelerator_type));
  if (config->image != NULL)
    CLM_TRY(copy("--image", config->image, strlen(config->image), pool.image, sizeof pool.image));
  put_pool(writer, &pool);
  pool.replicas = config->replica_count - 1;
  if (pool.replicas > 0) put_pool(writer, &pool);
  return CLM_OK;
}

clm_status clm__make_spec(const clm_launch_config *config, char **json)
{
  clm__json_writer writer = {0};
  clm__json_begin_object(&writer, NULL);
  clm__json_put_text(&writer, "display_name", config->name != NULL ? config->name : "clematis");
  clm__json_begin_object(&writer, "job_spec");
  clm__json_begin_list(&writer, "worker_pool_specs");
  const clm_status status =
      config->pool_specs.count > 0 ? put_pools(config, &writer) : put_short_form(config, &writer);
  if (status != CLM_OK) {
    clm__json_writer_fini(&writer);
    return status;
  }
  clm__json_end_list(&writer);
  clm__json_end_object(&writer);
  clm__json_end_object(&writer);
  return clm__json_take(&writer, json);
}
