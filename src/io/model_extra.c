#include "io/model_extra.h"

#include "io/json.h"

#include <inttypes.h>
#include <stdio.h>

/* Grows when a reader of this form could not make sense of the text. */
#define FORM 1
#define DIGEST_SIZE 40

static void print_digest(const clm__model_file *file, char text[DIGEST_SIZE])
{
  const uint64_t weights = clm__weights_digest(file->weights);
  const uint64_t optim =
      file->optim_state == NULL ? 0 : clm__optim_state_digest(file->optim_state, file->weights);
  (void)snprintf(text, DIGEST_SIZE, "%016" PRIx64 "-%016" PRIx64, weights, optim);
}

clm_status clm__model_extra_write(const clm__model_file *file, char **text)
{
  char digest[DIGEST_SIZE];
  clm__json_writer writer = {0};
  print_digest(file, digest);
  clm__json_begin_object(&writer, NULL);
  clm__json_put_int(&writer, "form", FORM);
  clm__json_put_text(&writer, "digest", digest);
  clm__json_put_raw(&writer, "extra", file->extra);
  clm__json_end_object(&writer);
  return clm__json_take(&writer, text);
}

static clm_status read_members(const clm__json_at *root, clm__model_file *file)
{
  char digest[DIGEST_SIZE];
  int64_t form = 0;
  const clm__json_at form_at = clm__json_find(root, "form");
  const clm__json_at digest_at = clm__json_find(root, "digest");
  const clm__json_at extra_at = clm__json_find(root, "extra");
  CLM_TRY(clm__json_get_int(&form_at, 1, INT64_MAX, &form));
  CLM_REQUIRE(form == FORM, CLM_UNSUPPORTED,
              CLM__EXTRA_MEMBER " has form %lld, only %d is known; a later version wrote it",
              (long long)form, FORM);
  print_digest(file, digest);
  CLM_REQUIRE(clm__json_is_text(&digest_at, digest), CLM_BAD_DATA,
              "the weights are not those that " CLM__EXTRA_MEMBER " was written with: the file is "
              "damaged or was changed");
  CLM_REQUIRE(extra_at.value != NULL, CLM_BAD_DATA, CLM__EXTRA_MEMBER " holds nothing");
  return clm__json_dump(&extra_at, &file->extra);
}

clm_status clm__model_extra_read(const char *text, size_t size_bytes, clm__model_file *file)
{
  clm__json *json = NULL;
  CLM_TRY(clm__json_parse(text, size_bytes, CLM__EXTRA_MEMBER, &json));
  const clm__json_at root = clm__json_root(json);
  const clm_status status = read_members(&root, file);
  clm__json_free(json);
  return status;
}
