#include "launch/json_text.h"

#include "base/mem.h"
#include "io/json.h"

#include <string.h>

static clm_status indent(clm__str *text, int level)
{
  return clm__str_add(text, "\n%*s", 2 * level, "");
}

static clm_status add_scalar(const clm__json_at *at, clm__str *text)
{
  char *dumped = NULL;
  CLM_TRY(clm__json_dump(at, &dumped));
  const clm_status status = clm__str_add(text, "%s", dumped);
  clm__mem_free(dumped);
  return status;
}

/* Adds a key with its quotes. */
static clm_status add_key(const char *key, clm__str *text)
{
  clm__json_writer writer = {0};
  char *quoted = NULL;
  clm__json_put_text(&writer, NULL, key);
  CLM_TRY(clm__json_take(&writer, &quoted));
  const clm_status status = clm__str_add(text, "%s: ", quoted);
  clm__mem_free(quoted);
  return status;
}

static bool is_container(const clm__json_at *at)
{
  const clm__json_kind kind = clm__json_kind_of(at);
  return kind == CLM__JSON_LIST || kind == CLM__JSON_OBJECT;
}

static clm_status add_json(const clm__json_at *at, int level, clm__str *text);

static clm_status add_members(const clm__json_at *at, int level, clm__str *text)
{
  const bool is_list = clm__json_kind_of(at) == CLM__JSON_LIST;
  void *iterator = NULL;
  for (size_t i = 0; i < clm__json_count(at); i++) {
    clm__json_at member = clm__json_item(at, i);
    if (!is_list && !clm__json_next(at, &iterator, &member)) break;
    if (i > 0) CLM_TRY(clm__str_add(text, ","));
    CLM_TRY(indent(text, level + 1));
    if (!is_list) CLM_TRY(add_key(member.key, text));
    CLM_TRY(add_json(&member, level + 1, text));
  }
  return indent(text, level);
}

static clm_status add_json(const clm__json_at *at, int level, clm__str *text)
{
  const bool is_list = clm__json_kind_of(at) == CLM__JSON_LIST;
  if (!is_container(at) || clm__json_count(at) == 0) return add_scalar(at, text);
  CLM_TRY(clm__str_add(text, is_list ? "[" : "{"));
  CLM_TRY(add_members(at, level, text));
  return clm__str_add(text, is_list ? "]" : "}");
}

static clm_status add_yaml_list(const clm__json_at *at, int level, clm__str *text);

/* Adds an object; the first key stands where the text is, the others at their level. */
static clm_status add_yaml_object(const clm__json_at *at, int level, clm__str *text)
{
  void *iterator = NULL;
  clm__json_at member;
  bool is_first = true;
  while (clm__json_next(at, &iterator, &member)) {
    if (!is_first) CLM_TRY(indent(text, level));
    is_first = false;
    CLM_TRY(clm__str_add(text, "%s:", member.key));
    const bool is_list = clm__json_kind_of(&member) == CLM__JSON_LIST;
    if (!is_container(&member) || clm__json_count(&member) == 0) {
      CLM_TRY(clm__str_add(text, " "));
      CLM_TRY(add_scalar(&member, text));
    } else if (is_list) {
      CLM_TRY(add_yaml_list(&member, level, text));
    } else {
      CLM_TRY(indent(text, level + 1));
      CLM_TRY(add_yaml_object(&member, level + 1, text));
    }
  }
  return CLM_OK;
}

static clm_status add_yaml_list(const clm__json_at *at, int level, clm__str *text)
{
  for (size_t i = 0; i < clm__json_count(at); i++) {
    const clm__json_at item = clm__json_item(at, i);
    CLM_TRY(indent(text, level));
    CLM_TRY(clm__str_add(text, "- "));
    if (clm__json_kind_of(&item) == CLM__JSON_OBJECT && clm__json_count(&item) > 0)
      CLM_TRY(add_yaml_object(&item, level + 1, text));
    else
      CLM_TRY(add_scalar(&item, text));
  }
  return CLM_OK;
}

clm_status clm__json_text_add(const char *json, bool yaml, clm__str *text)
{
  clm__json *document = NULL;
  CLM_TRY(clm__json_parse(json, strlen(json), "the manifest", &document));
  const clm__json_at root = clm__json_root(document);
  clm_status status = yaml && clm__json_kind_of(&root) == CLM__JSON_OBJECT
                          ? add_yaml_object(&root, 0, text)
                          : add_json(&root, 0, text);
  if (status == CLM_OK) status = clm__str_add(text, "\n");
  clm__json_free(document);
  return status;
}
