#include "clematis/data.h"
#include "data/encode_png.h"
#include "data/sample_flower.h"
#include "sys/file.h"

#include "base/mem.h"

#include <stdio.h>

/* Draws picture number (from 0) of a kind into its folder. */
static clm_status draw_picture(const char *folder, int kind, int number, uint64_t seed)
{
  char name[64];
  (void)snprintf(name, sizeof name, "%s-%03d.png", clm__sample_kind_name(kind), number + 1);
  clm__image image = {0};
  char *path = NULL;
  clm_status status = CLM_OK;
  CLM_TRY_TO(done, status, clm__file_join(folder, name, &path));
  CLM_TRY_TO(done, status, clm__sample_flower(seed, kind, number, &image));
  CLM_TRY_TO(done, status, clm__encode_png(&image, path));
done:
  clm__mem_free(path);
  clm__image_fini(&image);
  return status;
}

static clm_status draw_kind(const char *folder, int kind, int count, uint64_t seed)
{
  char *path = NULL;
  clm_status status = CLM_OK;
  CLM_TRY(clm__file_join(folder, clm__sample_kind_name(kind), &path));
  CLM_TRY_TO(done, status, clm__file_make_folder(path));
  for (int number = 0; number < count; number++)
    CLM_TRY_TO(done, status, draw_picture(path, kind, number, seed));
done:
  clm__mem_free(path);
  return status;
}

clm_status clm_sample_draw(const char *folder, int images_per_class, uint64_t seed)
{
  CLM_REQUIRE(folder != NULL && folder[0] != '\0', CLM_USAGE,
              "no folder to draw into: give its name");
  CLM_REQUIRE(images_per_class >= 1, CLM_USAGE, "%d pictures a kind are too few: draw at least 1",
              images_per_class);
  for (int kind = 0; kind < CLM__SAMPLE_KIND_COUNT; kind++)
    CLM_TRY(draw_kind(folder, kind, images_per_class, seed));
  return CLM_OK;
}
