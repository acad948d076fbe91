#include "clematis/config.h"

#include "base/mem.h"
#include "io/json.h"
#include "sys/file.h"

#include <string.h>

#define CONFIG_LIMIT_BYTES ((size_t)1 << 20)

/* A scalar as text: texts without their quotes, the rest as JSON writes it. */
static clm_status visit_member(const clm__json_at *member,
                               clm_status (*visit)(void *user, const char *key, const char *value),
                               void *user)
{
  const clm__json_kind kind = clm__json_kind_of(member);
  if (kind == CLM__JSON_NULL) return CLM_OK;
  if (kind == CLM__JSON_LIST || kind == CLM__JSON_OBJECT)
    return clm__json_fail(member, CLM_BAD_DATA,
                          "is %s; a configuration holds numbers, texts and true or false",
                          clm__json_kind_text(member));
  if (kind == CLM__JSON_TEXT) {
    const char *text = NULL;
    CLM_TRY(clm__json_get_text(member, &text));
    return visit(user, member->key, text);
  }
  char *text = NULL;
  CLM_TRY(clm__json_dump(member, &text));
  const clm_status status = visit(user, member->key, text);
  clm__mem_free(text);
  return status;
}

clm_status clm_config_load(const char *path, char **text)
{
  size_t size_bytes = 0;
  CLM_TRY(clm__file_read(path, CONFIG_LIMIT_BYTES, text, &size_bytes));
  return CLM_OK;
}

clm_status clm_config_parse(const char *text, const char *name,
                            clm_status (*visit)(void *user, const char *key, const char *value),
                            void *user)
{
  clm__json *json = NULL;
  CLM_TRY(clm__json_parse(text, strlen(text), name, &json));
  const clm__json_at root = clm__json_root(json);
  clm_status status = clm__json_require(&root, CLM__JSON_OBJECT);
  void *iterator = NULL;
  clm__json_at member;
  while (status == CLM_OK && clm__json_next(&root, &iterator, &member))
    status = visit_member(&member, visit, user);
  clm__json_free(json);
  return status;
}

clm_status clm_config_quote(const char *text, char **quoted)
{
  clm__json_writer writer = {0};
  clm__json_put_text(&writer, NULL, text);
  return clm__json_take(&writer, quoted);
}
