/* Source: the public messages CustomJob, WorkerPoolSpec, MachineSpec and their like of Vertex AI's
 * version 1 interface. */
#include "launch/fields.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define TABLE(title, list)                                                                         \
  {                                                                                                \
    .name = (title), .fields = (list), .count = COUNT_OF(list)                                     \
  }

const char *const clm__accelerator_names[] = {"ACCELERATOR_TYPE_UNSPECIFIED",
                                              "NVIDIA_TESLA_K80",
                                              "NVIDIA_TESLA_P100",
                                              "NVIDIA_TESLA_V100",
                                              "NVIDIA_TESLA_P4",
                                              "NVIDIA_TESLA_T4",
                                              "NVIDIA_TESLA_A100",
                                              "NVIDIA_A100_80GB",
                                              "NVIDIA_L4",
                                              "NVIDIA_H100_80GB",
                                              "NVIDIA_H100_MEGA_80GB",
                                              "NVIDIA_H200_141GB",
                                              "NVIDIA_B200",
                                              "NVIDIA_GB200",
                                              "NVIDIA_RTX_PRO_6000",
                                              "TPU_V2",
                                              "TPU_V3",
                                              "TPU_V4_POD",
                                              "TPU_V5_LITEPOD",
                                              NULL};

static const char *const affinities[] = {"TYPE_UNSPECIFIED", "NO_RESERVATION", "ANY_RESERVATION",
                                         "SPECIFIC_RESERVATION", NULL};
static const char *const strategies[] = {
    "STRATEGY_UNSPECIFIED", "ON_DEMAND", "LOW_COST", "STANDARD", "SPOT", "FLEX_START", NULL};
static const char *const disk_types[] = {"pd-ssd", "pd-standard", "hyperdisk-balanced", NULL};

static const clm__field affinity_fields[] = {
    {.name = "reservation_affinity_type",
     .kind = CLM__FIELD_WORD,
     .flags = CLM__FIELD_REQUIRED,
     .words = affinities},
    {.name = "key", .kind = CLM__FIELD_TEXT},
    {.name = "values", .kind = CLM__FIELD_TEXTS},
};
static const clm__message affinity = TABLE("ReservationAffinity", affinity_fields);

static const clm__field machine_fields[] = {
    {.name = "machine_type", .kind = CLM__FIELD_TEXT},
    {.name = "accelerator_type", .kind = CLM__FIELD_WORD, .words = clm__accelerator_names},
    {.name = "accelerator_count", .kind = CLM__FIELD_INT, .low = 0, .high = 64},
    {.name = "gpu_partition_size", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_VERTEX},
    {.name = "tpu_topology", .kind = CLM__FIELD_TEXT},
    {.name = "reservation_affinity",
     .kind = CLM__FIELD_MESSAGE,
     .flags = CLM__FIELD_VERTEX,
     .message = &affinity},
};
static const clm__message machine = TABLE("MachineSpec", machine_fields);

static const clm__field env_fields[] = {
    {.name = "name", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "value", .kind = CLM__FIELD_TEXT},
};
static const clm__message env = TABLE("EnvVar", env_fields);

static const clm__field container_fields[] = {
    {.name = "image_uri", .kind = CLM__FIELD_TEXT},
    {.name = "command",
     .kind = CLM__FIELD_TEXTS,
     .hint = "write each word as an entry: [\"clematis\", \"train\"]"},
    {.name = "args",
     .kind = CLM__FIELD_TEXTS,
     .hint = "write each word as an entry: [\"--epochs\", \"10\"]"},
    {.name = "env",
     .kind = CLM__FIELD_MESSAGES,
     .message = &env,
     .high = 100,
     .hint = "write [{\"name\": ..., \"value\": ...}, ...]"},
};
static const clm__message container = TABLE("ContainerSpec", container_fields);

static const clm__field disk_fields[] = {
    {.name = "boot_disk_type", .kind = CLM__FIELD_WORD, .words = disk_types},
    {.name = "boot_disk_size_gb", .kind = CLM__FIELD_INT, .low = 100, .high = 64000},
};
static const clm__message disk = TABLE("DiskSpec", disk_fields);

static const clm__field nfs_fields[] = {
    {.name = "server", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "path", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "mount_point", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
};
static const clm__message nfs = TABLE("NfsMount", nfs_fields);

static const clm__field lustre_fields[] = {
    {.name = "instance_ip", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "volume_handle", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "filesystem", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "mount_point", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
};
static const clm__message lustre = TABLE("LustreMount", lustre_fields);

static const clm__field pool_fields[] = {
    {.name = "container_spec", .kind = CLM__FIELD_MESSAGE, .message = &container},
    {.name = "python_package_spec", .kind = CLM__FIELD_ANY},
    {.name = "machine_spec", .kind = CLM__FIELD_MESSAGE, .message = &machine},
    {.name = "replica_count", .kind = CLM__FIELD_INT, .low = 0, .high = 100000},
    {.name = "disk_spec", .kind = CLM__FIELD_MESSAGE, .flags = CLM__FIELD_VERTEX, .message = &disk},
    {.name = "nfs_mounts",
     .kind = CLM__FIELD_MESSAGES,
     .flags = CLM__FIELD_VERTEX,
     .message = &nfs},
    {.name = "lustre_mounts",
     .kind = CLM__FIELD_MESSAGES,
     .flags = CLM__FIELD_VERTEX,
     .message = &lustre},
};
const clm__message clm__message_pool = TABLE("WorkerPoolSpec", pool_fields);

static const clm__field scheduling_fields[] = {
    {.name = "timeout", .kind = CLM__FIELD_DURATION},
    {.name = "restart_job_on_worker_restart", .kind = CLM__FIELD_BOOL},
    {.name = "strategy", .kind = CLM__FIELD_WORD, .words = strategies},
    {.name = "disable_retries", .kind = CLM__FIELD_BOOL},
    {.name = "max_wait_duration", .kind = CLM__FIELD_DURATION, .flags = CLM__FIELD_VERTEX},
};
static const clm__message scheduling = TABLE("Scheduling", scheduling_fields);

static const clm__field output_fields[] = {
    {.name = "output_uri_prefix", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
};
static const clm__message output = TABLE("GcsDestination", output_fields);

static const clm__field psc_fields[] = {
    {.name = "network_attachment", .kind = CLM__FIELD_TEXT},
    {.name = "dns_peering_configs", .kind = CLM__FIELD_ANY},
};
static const clm__message psc = TABLE("PscInterfaceConfig", psc_fields);

#define VERTEX_TEXT(field)                                                                         \
  {                                                                                                \
    .name = (field), .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_VERTEX                           \
  }

static const clm__field job_spec_fields[] = {
    {.name = "worker_pool_specs",
     .kind = CLM__FIELD_MESSAGES,
     .flags = CLM__FIELD_REQUIRED,
     .message = &clm__message_pool,
     .high = 4},
    {.name = "scheduling", .kind = CLM__FIELD_MESSAGE, .message = &scheduling},
    {.name = "base_output_directory",
     .kind = CLM__FIELD_MESSAGE,
     .message = &output,
     .hint = "write {\"output_uri_prefix\": \"gs://BUCKET/FOLDER\"}"},
    VERTEX_TEXT("service_account"),
    VERTEX_TEXT("network"),
    {.name = "reserved_ip_ranges", .kind = CLM__FIELD_TEXTS, .flags = CLM__FIELD_VERTEX},
    {.name = "psc_interface_config",
     .kind = CLM__FIELD_MESSAGE,
     .flags = CLM__FIELD_VERTEX,
     .message = &psc},
    VERTEX_TEXT("tensorboard"),
    {.name = "enable_web_access", .kind = CLM__FIELD_BOOL, .flags = CLM__FIELD_VERTEX},
    {.name = "enable_dashboard_access", .kind = CLM__FIELD_BOOL, .flags = CLM__FIELD_VERTEX},
    VERTEX_TEXT("persistent_resource_id"),
    VERTEX_TEXT("experiment"),
    VERTEX_TEXT("experiment_run"),
    {.name = "models", .kind = CLM__FIELD_TEXTS, .flags = CLM__FIELD_VERTEX},
    VERTEX_TEXT("protected_artifact_location_id"),
};
const clm__message clm__message_job_spec = TABLE("CustomJobSpec", job_spec_fields);

static const clm__field encryption_fields[] = {
    {.name = "kms_key_name", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
};
static const clm__message encryption = TABLE("EncryptionSpec", encryption_fields);

#define BY_SERVICE(field)                                                                          \
  {                                                                                                \
    .name = (field), .kind = CLM__FIELD_ANY, .flags = CLM__FIELD_SERVICE                           \
  }

static const clm__field custom_job_fields[] = {
    {.name = "display_name", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "job_spec",
     .kind = CLM__FIELD_MESSAGE,
     .flags = CLM__FIELD_REQUIRED,
     .message = &clm__message_job_spec},
    {.name = "labels", .kind = CLM__FIELD_LABELS},
    {.name = "encryption_spec",
     .kind = CLM__FIELD_MESSAGE,
     .flags = CLM__FIELD_VERTEX,
     .message = &encryption},
    BY_SERVICE("name"),
    BY_SERVICE("state"),
    BY_SERVICE("create_time"),
    BY_SERVICE("start_time"),
    BY_SERVICE("end_time"),
    BY_SERVICE("update_time"),
    BY_SERVICE("error"),
    BY_SERVICE("web_access_uris"),
    BY_SERVICE("satisfies_pzs"),
    BY_SERVICE("satisfies_pzi"),
};
const clm__message clm__message_custom_job = TABLE("CustomJob", custom_job_fields);

#define VERTEX_ANY(field)                                                                          \
  {                                                                                                \
    .name = (field), .kind = CLM__FIELD_ANY, .flags = CLM__FIELD_VERTEX                            \
  }

static const clm__field pipeline_fields[] = {
    {.name = "display_name", .kind = CLM__FIELD_TEXT, .flags = CLM__FIELD_REQUIRED},
    {.name = "training_task_inputs",
     .kind = CLM__FIELD_MESSAGE,
     .flags = CLM__FIELD_REQUIRED,
     .message = &clm__message_job_spec},
    {.name = "labels", .kind = CLM__FIELD_LABELS},
    VERTEX_ANY("training_task_definition"),
    VERTEX_ANY("input_data_config"),
    VERTEX_ANY("model_to_upload"),
    VERTEX_TEXT("model_id"),
    VERTEX_TEXT("parent_model"),
    VERTEX_ANY("encryption_spec"),
    BY_SERVICE("name"),
    BY_SERVICE("state"),
    BY_SERVICE("create_time"),
    BY_SERVICE("start_time"),
    BY_SERVICE("end_time"),
    BY_SERVICE("update_time"),
    BY_SERVICE("error"),
    BY_SERVICE("training_task_metadata"),
};
const clm__message clm__message_pipeline = TABLE("TrainingPipeline", pipeline_fields);

void clm__field_to_snake(const char *key, char snake[CLM__FIELD_NAME_SIZE])
{
  size_t length = 0;
  for (; *key != '\0' && length + 2 < CLM__FIELD_NAME_SIZE; key++) {
    const unsigned char c = (unsigned char)*key;
    if (isupper(c) && length > 0) snake[length++] = '_';
    snake[length++] = (char)tolower(c);
  }
  snake[length] = '\0';
}

void clm__field_to_camel(const char *name, char camel[CLM__FIELD_NAME_SIZE])
{
  size_t length = 0;
  for (; *name != '\0' && length + 1 < CLM__FIELD_NAME_SIZE; name++) {
    const bool is_joint = name[0] == '_' && name[1] != '\0';
    if (is_joint) name++;
    camel[length++] = is_joint ? (char)toupper((unsigned char)*name) : *name;
  }
  camel[length] = '\0';
}

const clm__field *clm__field_find(const clm__message *message, const char *snake)
{
  for (size_t i = 0; i < message->count; i++)
    if (strcmp(message->fields[i].name, snake) == 0) return &message->fields[i];
  return NULL;
}
