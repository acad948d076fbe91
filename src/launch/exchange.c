#include "launch/exchange.h"

#include "base/mem.h"
#include "sys/file.h"

#include <stdlib.h>
#include <string.h>

#define KEY_BYTES_MAX ((size_t)8192)

static clm_status member_path(const char *folder, const char *member, char **path)
{
  clm__str name = {0};
  CLM_TRY(clm__str_add(&name, "host.%s", member));
  const clm_status status = clm__file_join(folder, clm__str_get(&name), path);
  clm__str_fini(&name);
  return status;
}

/* The first two words of a public key file, "TYPE BASE64"; anything else is refused, since it
 * becomes a line of a file that ssh trusts. */
static clm_status read_public_key(const char *text, const char *what, clm__str *key)
{
  static const char base64[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "+/=";
  static const char types[] = "abcdefghijklmnopqrstuvwxyz0123456789-@.";
  const size_t type = strspn(text, types);
  const size_t rest = text[type] == ' ' ? strspn(text + type + 1, base64) : 0;
  const char after = rest > 0 ? text[type + 1 + rest] : '!';
  const bool is_known = strncmp(text, "ssh-", 4) == 0 || strncmp(text, "ecdsa-", 6) == 0;
  CLM_REQUIRE(is_known && (after == ' ' || after == '\n' || after == '\0'), CLM_BAD_DATA,
              "%s holds no public key of ssh", what);
  return clm__str_add_bytes(key, text, type + 1 + rest);
}

static clm_status load_public_key(const char *path, clm__str *key)
{
  char *text = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__file_read(path, KEY_BYTES_MAX, &text, &size_bytes));
  const clm_status status = read_public_key(text, path, key);
  clm__mem_free(text);
  return status;
}

clm_status clm__exchange_publish(const char *folder, const char *member,
                                 const char *public_key_file, int slots)
{
  clm__str text = {0};
  char *path = NULL;
  CLM_TRY(clm__file_make_folder(folder));
  clm_status status = clm__str_add(&text, "slots %d\n", slots);
  if (status == CLM_OK) status = load_public_key(public_key_file, &text);
  if (status == CLM_OK) status = clm__str_add(&text, "\n");
  if (status == CLM_OK) status = member_path(folder, member, &path);
  if (status == CLM_OK) status = clm__file_write(path, text.text, text.length);
  clm__mem_free(path);
  clm__str_fini(&text);
  return status;
}

static clm_status parse_published(const char *text, const char *path, clm__published *published)
{
  char *end = NULL;
  clm__str key = {0};
  CLM_REQUIRE(strncmp(text, "slots ", 6) == 0, CLM_BAD_DATA, "%s: its first line is no slots",
              path);
  const long slots = strtol(text + 6, &end, 10);
  CLM_REQUIRE(*end == '\n' && slots >= 1 && slots <= 1024, CLM_BAD_DATA,
              "%s: the number of slots is not in 1..1024", path);
  clm_status status = read_public_key(end + 1, path, &key);
  if (status == CLM_OK) status = clm__str_take(&key, &published->host_key);
  if (status == CLM_OK) published->slots = (int)slots;
  clm__str_fini(&key);
  return status;
}

clm_status clm__exchange_read(const char *folder, const char *member, clm__published *published)
{
  char *path = NULL;
  char *text = NULL;
  size_t size_bytes = 0;
  CLM_TRY(member_path(folder, member, &path));
  clm_status status = clm__file_read(path, KEY_BYTES_MAX, &text, &size_bytes);
  if (status == CLM_OK) status = parse_published(text, path, published);
  clm__mem_free(text);
  clm__mem_free(path);
  return status;
}

void clm__published_fini(clm__published *published)
{
  clm__mem_free(published->host_key);
  *published = (clm__published){0};
}

clm_status clm__exchange_publish_chief(const char *folder, const char *public_key_file)
{
  clm__str key = {0};
  char *path = NULL;
  CLM_TRY(clm__file_make_folder(folder));
  clm_status status = load_public_key(public_key_file, &key);
  if (status == CLM_OK) status = clm__str_add(&key, "\n");
  if (status == CLM_OK) status = clm__file_join(folder, "chief.pub", &path);
  if (status == CLM_OK) status = clm__file_write(path, key.text, key.length);
  clm__mem_free(path);
  clm__str_fini(&key);
  return status;
}

static clm_status update(const char *path, const char *authorized_keys)
{
  char *old = NULL;
  size_t size_bytes = 0;
  clm__str key = {0};
  clm_status status = load_public_key(path, &key);
  if (status == CLM_OK) status = clm__str_add(&key, "\n");
  if (status == CLM_OK && clm__file_exists(authorized_keys))
    status = clm__file_read(authorized_keys, KEY_BYTES_MAX, &old, &size_bytes);
  if (status == CLM_OK && (old == NULL || strcmp(old, key.text) != 0))
    status = clm__file_write(authorized_keys, key.text, key.length);
  clm__mem_free(old);
  clm__str_fini(&key);
  return status;
}

clm_status clm__exchange_take_chief(const char *folder, const char *authorized_keys, bool *is_there)
{
  char *path = NULL;
  CLM_TRY(clm__file_join(folder, "chief.pub", &path));
  const bool exists = clm__file_exists(path);
  const clm_status status = exists ? update(path, authorized_keys) : CLM_OK;
  clm__mem_free(path);
  if (status == CLM_OK) *is_there = exists;
  return status;
}

clm_status clm__exchange_add_known(const char *host, int port, const char *host_key, clm__str *text)
{
  if (port == 22) return clm__str_add(text, "%s %s\n", host, host_key);
  return clm__str_add(text, "[%s]:%d %s\n", host, port, host_key);
}
