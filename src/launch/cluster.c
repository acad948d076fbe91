#include "launch/cluster.h"

#include "base/mem.h"
#include "base/str.h"
#include "io/json.h"

#include <stdlib.h>
#include <string.h>

/* Names of the groups of a cluster: Vertex AI's own and TensorFlow's. */
static const struct {
  const char *name;
  int pool;
} groups[] = {{"workerpool0", 0}, {"chief", 0},  {"master", 0},
              {"workerpool1", 1}, {"worker", 1}, {"workerpool2", 2},
              {"workerpool3", 3}, {"ps", 2},     {"evaluator", 3}};
#define GROUP_COUNT (sizeof groups / sizeof *groups)

/* The pool of a group's name, -1 where it is none. */
static int pool_of(const char *name)
{
  for (size_t i = 0; i < GROUP_COUNT; i++)
    if (strcmp(groups[i].name, name) == 0) return groups[i].pool;
  return -1;
}

/* Splits "host:2222". */
static clm_status add_member(clm__cluster *cluster, int pool, int index, const char *address)
{
  const char *colon = strrchr(address, ':');
  const size_t length = colon != NULL ? (size_t)(colon - address) : strlen(address);
  clm__str host = {0};
  CLM_TRY(clm__mem_resize(cluster->count + 1, sizeof *cluster->members, &cluster->members));
  clm__member *member = &cluster->members[cluster->count];
  *member = (clm__member){.pool = pool, .index = index};
  cluster->count++;
  CLM_TRY(clm__str_add_bytes(&host, address, length));
  CLM_TRY(clm__str_take(&host, &member->host));
  if (colon != NULL && cluster->port == 0) cluster->port = (int)strtol(colon + 1, NULL, 10);
  return CLM_OK;
}

static clm_status add_group(clm__cluster *cluster, const clm__json_at *all, size_t group)
{
  const clm__json_at list = clm__json_find(all, groups[group].name);
  const int pool = groups[group].pool;
  if (list.value == NULL) return CLM_OK;
  CLM_TRY(clm__json_require(&list, CLM__JSON_LIST));
  if (pool >= 2 && clm__json_count(&list) > 0)
    return clm__json_fail(&list, CLM_UNSUPPORTED,
                          "parameter servers and evaluators have no part in this trainer: leave "
                          "these replicas out of the job");
  for (size_t i = 0; i < clm__json_count(&list); i++) {
    const clm__json_at item = clm__json_item(&list, i);
    const char *address = NULL;
    CLM_TRY(clm__json_get_text(&item, &address));
    CLM_TRY(add_member(cluster, pool, (int)i, address));
  }
  return CLM_OK;
}

static clm_status find_own(clm__cluster *cluster, const clm__json_at *task)
{
  const clm__json_at type_at = clm__json_find(task, "type");
  const clm__json_at index_at = clm__json_find(task, "index");
  const char *type = NULL;
  int64_t index = 0;
  CLM_TRY(clm__json_get_text(&type_at, &type));
  if (clm__json_kind_of(&index_at) == CLM__JSON_TEXT) {
    const char *digits = NULL;
    CLM_TRY(clm__json_get_text(&index_at, &digits));
    index = strtoll(digits, NULL, 10);
  } else {
    CLM_TRY(clm__json_get_int(&index_at, 0, INT32_MAX, &index));
  }
  const int pool = pool_of(type);
  for (size_t i = 0; i < cluster->count; i++) {
    if (cluster->members[i].pool != pool || cluster->members[i].index != (int)index) continue;
    cluster->own = i;
    return CLM_OK;
  }
  return clm__json_fail(task, CLM_BAD_DATA, "no replica %s %lld is in the cluster", type,
                        (long long)index);
}

static clm_status read_cluster(const clm__json_at *root, clm__cluster *cluster)
{
  const clm__json_at all = clm__json_find(root, "cluster");
  const clm__json_at task = clm__json_find(root, "task");
  CLM_TRY(clm__json_require(&all, CLM__JSON_OBJECT));
  for (size_t i = 0; i < GROUP_COUNT; i++) CLM_TRY(add_group(cluster, &all, i));
  if (cluster->count == 0 || cluster->members[0].pool != 0)
    return clm__json_fail(&all, CLM_BAD_DATA, "no chief (workerpool0) is in the cluster");
  return find_own(cluster, &task);
}

clm_status clm__cluster_read(const char *text, const char *what, clm__cluster *cluster)
{
  clm__json *document = NULL;
  *cluster = (clm__cluster){0};
  CLM_TRY(clm__json_parse(text, strlen(text), what, &document));
  const clm__json_at root = clm__json_root(document);
  clm_status status = read_cluster(&root, cluster);
  clm__json_free(document);
  if (status == CLM_OK) return CLM_OK;
  clm__cluster_fini(cluster);
  return clm__error_prefix(status, "%s: ", what);
}

void clm__cluster_fini(clm__cluster *cluster)
{
  for (size_t i = 0; i < cluster->count; i++) clm__mem_free(cluster->members[i].host);
  clm__mem_free(cluster->members);
  *cluster = (clm__cluster){0};
}
