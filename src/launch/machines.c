#include "launch/machines.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int clm__machine_processors(const char *machine_type)
{
  const char *dash = strrchr(machine_type, '-');
  if (dash == NULL) return 0;
  char *end = NULL;
  const long count = strtol(dash + 1, &end, 10);
  return *end == '\0' && count > 0 && count <= 1024 ? (int)count : 0;
}

/* The first row whose patterns fit counts. */
static const struct {
  const char *accelerator;
  const char *machine;
  const char *counts; /* " 1 2 " */
} shapes[] = {
    {"NVIDIA_TESLA_V100", "n1-*-[248]", " 1 2 4 8 "},
    {"NVIDIA_TESLA_V100", "n1-*-16", " 2 4 8 "},
    {"NVIDIA_TESLA_V100", "n1-*-32", " 4 8 "},
    {"NVIDIA_TESLA_V100", "n1-*", " 8 "},
    {"NVIDIA_TESLA_[TP]4", "n1-*-32", " 2 4 "},
    {"NVIDIA_TESLA_[TP]4", "n1-*-64", " 4 "},
    {"NVIDIA_TESLA_[TP]4", "n1-*-96", " 4 "},
    {"NVIDIA_TESLA_[TP]4", "n1-*", " 1 2 4 "},
    {"NVIDIA_TESLA_P100", "n1-*", " 1 2 4 "},
    {"NVIDIA_L4", "g2-standard-24", " 2 "},
    {"NVIDIA_L4", "g2-standard-48", " 4 "},
    {"NVIDIA_L4", "g2-standard-96", " 8 "},
    {"NVIDIA_L4", "g2-standard-*", " 1 "},
    {"NVIDIA_TESLA_A100", "a2-highgpu-1g", " 1 "},
    {"NVIDIA_TESLA_A100", "a2-highgpu-2g", " 2 "},
    {"NVIDIA_TESLA_A100", "a2-highgpu-4g", " 4 "},
    {"NVIDIA_TESLA_A100", "a2-highgpu-8g", " 8 "},
    {"NVIDIA_TESLA_A100", "a2-megagpu-16g", " 16 "},
    {"NVIDIA_A100_80GB", "a2-ultragpu-1g", " 1 "},
    {"NVIDIA_A100_80GB", "a2-ultragpu-2g", " 2 "},
    {"NVIDIA_A100_80GB", "a2-ultragpu-4g", " 4 "},
    {"NVIDIA_A100_80GB", "a2-ultragpu-8g", " 8 "},
    {"NVIDIA_H100_80GB", "a3-highgpu-1g", " 1 "},
    {"NVIDIA_H100_80GB", "a3-highgpu-2g", " 2 "},
    {"NVIDIA_H100_80GB", "a3-highgpu-4g", " 4 "},
    {"NVIDIA_H100_80GB", "a3-highgpu-8g", " 8 "},
    {"NVIDIA_H100_MEGA_80GB", "a3-megagpu-8g", " 8 "},
    {"NVIDIA_H200_141GB", "a3-ultragpu-8g", " 8 "},
    {"NVIDIA_B200", "a4-highgpu-8g", " 8 "},
    {"NVIDIA_GB200", "a4x-highgpu-4g", " 4 "},
    {"NVIDIA_RTX_PRO_6000", "g4-standard-48", " 1 "},
    {"NVIDIA_RTX_PRO_6000", "g4-standard-96", " 2 "},
    {"NVIDIA_RTX_PRO_6000", "g4-standard-192", " 4 "},
    {"NVIDIA_RTX_PRO_6000", "g4-standard-384", " 8 "},
};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

bool clm__machine_fits(const char *machine_type, const char *accelerator, int count,
                       const char **allowed)
{
  bool is_known = false;
  char wanted[16];
  (void)snprintf(wanted, sizeof wanted, " %d ", count);
  for (size_t i = 0; i < SHAPE_COUNT; i++) {
    if (fnmatch(shapes[i].machine, machine_type, 0) != 0) continue;
    is_known = true;
    if (fnmatch(shapes[i].accelerator, accelerator, 0) != 0) continue;
    *allowed = shapes[i].counts;
    return strstr(shapes[i].counts, wanted) != NULL;
  }
  *allowed = " 0 ";
  return !is_known;
}
