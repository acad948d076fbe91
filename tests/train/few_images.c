#include "op/testdevice.h"

#include "train/few_images.h"

#include "clematis/clematis.h"
#include "sys/file.h"

#include <stdio.h>

#define CLASSES 5
#define PATH_SIZE 2048

static void remove_first_image(const char *folder, const char *name)
{
  char path[PATH_SIZE];
  clm__file_listing images = {0};
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_ok(clm__file_list(path, &images));
  (void)snprintf(path, sizeof path, "%s/%s/%s", folder, name, images.entries[0].name);
  assert_ok(clm__file_remove(path));
  clm__file_listing_fini(&images);
}

void draw_few_images(const char *folder, int count)
{
  const int each = (count + CLASSES - 1) / CLASSES;
  clm__file_listing classes = {0};
  assert_ok(clm_sample_draw(folder, each, 1));
  assert_ok(clm__file_list(folder, &classes));
  for (int i = 0; i < each * CLASSES - count; i++)
    remove_first_image(folder, classes.entries[i].name);
  clm__file_listing_fini(&classes);
}
