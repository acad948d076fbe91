#include "launch/plan.h"

#include "base/mem.h"
#include "base/num.h"
#include "launch/expand.h"
#include "launch/machines.h"
#include "launch/shell.h"

#include <string.h>

clm_status clm__plan_add_replica(clm__plan *plan, const clm__replica *replica, const char *host)
{
  char *copy = NULL;
  CLM_TRY(clm__mem_resize(plan->replica_count + 1, sizeof *plan->replicas, &plan->replicas));
  if (host != NULL) CLM_TRY(clm__mem_copy_text(host, &copy));
  plan->replicas[plan->replica_count] = *replica;
  plan->replicas[plan->replica_count++].host = copy;
  plan->ranks += replica->slots;
  return CLM_OK;
}

static clm_status add_pools(const clm__spec *spec, const clm_launch_config *config, clm__plan *plan)
{
  for (int p = 0; p < 2; p++) {
    const clm__spec_pool *pool = &spec->pools[p];
    const int wanted = config->ranks_per_replica;
    clm__replica replica = {
        .pool = p,
        .slots = wanted > 0 ? wanted : clm__max_int(pool->accelerators, 1),
        .processors = pool->replicas > 0 ? clm__machine_processors(pool->machine_type) : 0,
        .accelerators = pool->accelerators,
        .machine_type = pool->machine_type,
        .accelerator_type = pool->accelerator_type,
        .image = pool->image,
    };
    for (replica.index = 0; replica.index < pool->replicas; replica.index++)
      CLM_TRY(clm__plan_add_replica(plan, &replica, NULL));
  }
  return CLM_OK;
}

/* A job's name as a part of a path: anything unusual becomes '-'. */
static clm_status choose_name(const char *wanted, char **name)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789._-";
  char *made = NULL;
  CLM_TRY(clm__mem_copy_text(wanted != NULL && wanted[0] != '\0' ? wanted : "clematis", &made));
  for (char *at = made; *at != '\0'; at++)
    if (strchr(letters, *at) == NULL || (at == made && *at == '.')) *at = '-';
  *name = made;
  return CLM_OK;
}

static clm_status choose_output(const char *uri, clm__plan *plan)
{
  clm__str path = {0};
  clm__str given = {0};
  clm_status status =
      uri != NULL ? clm__str_add(&given, "%s", uri) : clm__str_add(&given, "runs/%s", plan->name);
  if (status == CLM_OK) status = clm__expand_bucket(clm__str_get(&given), &path);
  if (status == CLM_OK) status = clm__str_take(&path, &plan->output);
  if (status == CLM_OK) status = clm__str_take(&given, &plan->output_uri);
  clm__str_fini(&path);
  clm__str_fini(&given);
  return status;
}

/* The folders of Vertex AI's contract, so that a command reads one set of names everywhere. */
static clm_status add_service_env(clm__plan *plan)
{
  static const char *const names[][2] = {{"AIP_MODEL_DIR", "model"},
                                         {"AIP_CHECKPOINT_DIR", "checkpoints"},
                                         {"AIP_TENSORBOARD_LOG_DIR", "logs"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    CLM_TRY(clm__words_addf(&plan->env, "%s=%s/%s/", names[i][0], plan->output, names[i][1]));
  return CLM_OK;
}

static clm_status add_env(const clm__words *env, clm__plan *plan)
{
  for (size_t i = 0; i < env->count; i++) {
    clm__str name = {0};
    clm__str value = {0};
    const size_t length = strcspn(env->items[i], "=");
    clm_status status = clm__str_add_bytes(&name, env->items[i], length);
    if (status == CLM_OK) status = clm__expand(env->items[i] + length + 1, &plan->env, &value);
    if (status == CLM_OK)
      status = clm__words_set_variable(&plan->env, clm__str_get(&name), clm__str_get(&value));
    clm__str_fini(&name);
    clm__str_fini(&value);
    CLM_TRY(status);
  }
  return CLM_OK;
}

static clm_status add_option_env(const clm_launch_config *config, clm__plan *plan)
{
  clm__words env = {0};
  clm_status status = CLM_OK;
  for (int i = 0; i < config->env.count && status == CLM_OK; i++) {
    const char *equals = strchr(config->env.items[i], '=');
    if (equals == NULL || equals == config->env.items[i])
      status = clm__error_fail(CLM_USAGE, __FILE__, __LINE__, __func__,
                               "--env: '%s' is no NAME=VALUE", config->env.items[i]);
    else
      status = clm__words_add(&env, config->env.items[i]);
  }
  if (status == CLM_OK) status = add_env(&env, plan);
  clm__words_fini(&env);
  return status;
}

static clm_status add_expanded(const clm__words *words, const clm__plan *plan, clm__words *result)
{
  for (size_t i = 0; i < words->count; i++) {
    clm__str word = {0};
    const clm_status status = clm__expand(words->items[i], &plan->env, &word);
    if (status != CLM_OK) clm__str_fini(&word);
    CLM_TRY(status);
    CLM_TRY(clm__words_add_str(result, &word));
  }
  return CLM_OK;
}

/* A command of the job's own is taken as it is; without one ours trains. */
static clm_status add_command(const clm__words *command, const clm__words *args,
                              const clm_launch_config *config, clm__plan *plan)
{
  clm__words all = {0};
  clm_status status = clm__words_add_list(&all, (const char *const *)args->items, args->count);
  if (status == CLM_OK)
    status = clm__words_add_list(&all, config->arguments.items, (size_t)config->arguments.count);
  size_t skipped = 0;
  if (command->count == 0 && status == CLM_OK) {
    plan->is_own = true;
    /* `args` may begin with the command's name, or with the words of the image's entry point. */
    if (skipped < all.count && strcmp(all.items[skipped], "--") == 0) skipped++;
    if (skipped < all.count && strcmp(all.items[skipped], "train") == 0) skipped++;
    status = clm__words_add(&plan->command, config->program != NULL ? config->program : "clematis");
    if (status == CLM_OK) status = clm__words_add(&plan->command, "train");
  } else if (status == CLM_OK) {
    status = add_expanded(command, plan, &plan->command);
  }
  if (status == CLM_OK && skipped < all.count) {
    const clm__words left = {.items = all.items + skipped, .count = all.count - skipped};
    status = add_expanded(&left, plan, &plan->rest);
  }
  clm__words_fini(&all);
  return status;
}

static clm_status make(const clm__spec *spec, const clm_launch_config *config, clm__plan *plan)
{
  CLM_TRY(choose_name(config->name != NULL ? config->name : spec->display_name, &plan->name));
  CLM_TRY(choose_output(
      config->base_output_dir != NULL ? config->base_output_dir : spec->output_uri, plan));
  CLM_TRY(add_pools(spec, config, plan));
  CLM_TRY(add_service_env(plan));
  CLM_TRY(add_env(&spec->pools[0].env, plan));
  CLM_TRY(add_option_env(config, plan));
  CLM_TRY(add_command(&spec->pools[0].command, &spec->pools[0].args, config, plan));
  plan->max_restarts = spec->disable_retries ? 0 : config->max_restarts;
  plan->timeout_seconds =
      config->timeout_seconds > 0.0 ? config->timeout_seconds : spec->timeout_seconds;
  plan->is_spot = spec->is_spot;
  return CLM_OK;
}

clm_status clm__plan_make(const clm__spec *spec, const clm_launch_config *config, clm__plan *plan)
{
  *plan = (clm__plan){0};
  const clm_status status = make(spec, config, plan);
  if (status != CLM_OK) clm__plan_fini(plan);
  return status;
}

static clm_status make_plain(const clm_launch_config *config, const char *output_uri,
                             clm__plan *plan)
{
  static const clm__words none = {0};
  CLM_TRY(choose_name(config->name, &plan->name));
  if (output_uri != NULL) {
    CLM_TRY(choose_output(output_uri, plan));
    CLM_TRY(add_service_env(plan));
  }
  CLM_TRY(add_option_env(config, plan));
  plan->max_restarts = config->max_restarts;
  plan->timeout_seconds = config->timeout_seconds;
  if (!config->own_command) return add_command(&none, &none, config, plan);
  CLM_REQUIRE(config->arguments.count > 0, CLM_USAGE,
              "--own-command: the command is missing; it goes behind --");
  return clm__words_add_list(&plan->command, config->arguments.items,
                             (size_t)config->arguments.count);
}

clm_status clm__plan_make_plain(const clm_launch_config *config, const char *output_uri,
                                clm__plan *plan)
{
  *plan = (clm__plan){0};
  const clm_status status = make_plain(config, output_uri, plan);
  if (status != CLM_OK) clm__plan_fini(plan);
  return status;
}

void clm__plan_fini(clm__plan *plan)
{
  for (size_t i = 0; i < plan->replica_count; i++) clm__mem_free(plan->replicas[i].host);
  clm__mem_free(plan->replicas);
  clm__mem_free(plan->name);
  clm__mem_free(plan->output);
  clm__mem_free(plan->output_uri);
  clm__words_fini(&plan->command);
  clm__words_fini(&plan->rest);
  clm__words_fini(&plan->env);
  *plan = (clm__plan){0};
}

clm_status clm__plan_command(const clm__plan *plan, clm_launch_progress progress, bool resume,
                             clm__words *words)
{
  static const char *const styles[] = {"lines", "bar", "none", "json"};
  CLM_TRY(
      clm__words_add_list(words, (const char *const *)plan->command.items, plan->command.count));
  if (plan->is_own) {
    /* In front of the job's own arguments, which therefore win. */
    CLM_TRY(clm__words_add(words, "--expect-ranks"));
    CLM_TRY(clm__words_addf(words, "%d", plan->ranks));
    CLM_TRY(clm__words_add(words, "--progress"));
    CLM_TRY(clm__words_add(words, styles[progress]));
    if (plan->output != NULL) CLM_TRY(clm__words_add(words, "--out"));
    if (plan->output != NULL) CLM_TRY(clm__words_add(words, plan->output));
    if (resume) CLM_TRY(clm__words_add(words, "--resume"));
  }
  return clm__words_add_list(words, (const char *const *)plan->rest.items, plan->rest.count);
}

bool clm__plan_is_even(const clm__plan *plan)
{
  for (size_t i = 1; i < plan->replica_count; i++)
    if (plan->replicas[i].slots != plan->replicas[0].slots) return false;
  return true;
}

static clm_status describe_replica(const clm__replica *replica, clm__str *text)
{
  CLM_TRY(clm__str_add(text, "  workerpool%d-%d: %d rank%s", replica->pool, replica->index,
                       replica->slots, replica->slots == 1 ? "" : "s"));
  if (replica->accelerators > 0)
    CLM_TRY(clm__str_add(text, ", %d x %s", replica->accelerators,
                         replica->accelerator_type != NULL ? replica->accelerator_type
                                                           : "accelerator"));
  if (replica->machine_type[0] != '\0') CLM_TRY(clm__str_add(text, ", %s", replica->machine_type));
  if (replica->host != NULL) CLM_TRY(clm__str_add(text, ", host %s", replica->host));
  return clm__str_add(text, "\n");
}

clm_status clm__plan_describe(const clm__plan *plan, clm_launch_progress progress, clm__str *text)
{
  CLM_TRY(clm__str_add(text, "job %s: %zu replica%s, %d rank%s\n", plan->name, plan->replica_count,
                       plan->replica_count == 1 ? "" : "s", plan->ranks,
                       plan->ranks == 1 ? "" : "s"));
  for (size_t i = 0; i < plan->replica_count; i++)
    CLM_TRY(describe_replica(&plan->replicas[i], text));
  clm__words words = {0};
  clm_status status = clm__plan_command(plan, progress, false, &words);
  if (status == CLM_OK) status = clm__str_add(text, "each rank: ");
  if (status == CLM_OK) status = clm__shell_add_words(text, &words);
  clm__words_fini(&words);
  if (status == CLM_OK) status = clm__str_add(text, "\nenvironment:\n");
  for (size_t i = 0; i < plan->env.count && status == CLM_OK; i++)
    status = clm__str_add(text, "  %s\n", plan->env.items[i]);
  CLM_TRY(status);
  if (plan->timeout_seconds > 0.0)
    CLM_TRY(clm__str_add(text, "ended after: %.0f s\n", plan->timeout_seconds));
  return clm__str_add(text, "restarts: at most %d\n", plan->max_restarts);
}
