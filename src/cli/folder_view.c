#include "cli/folder_view.h"

#include "cli/format.h"
#include "cli/say.h"

#include <string.h>

/* Bytes that begin a character: what a UTF-8 text takes on the screen, near enough. */
static int screen_width(const char *text)
{
  int width = 0;
  for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xC0U) != 0x80;
  return width;
}

static void print_table(const clm_data_report *report)
{
  int width = 5;
  for (size_t i = 0; i < report->class_count; i++) {
    const int here = screen_width(report->classes[i].name);
    if (here > width) width = here;
  }
  clm__say_info("%s", "");
  clm__say_info("  class%*s  index  training  validation", width - 5, "");
  for (size_t i = 0; i < report->class_count; i++) {
    const clm_class_count *row = &report->classes[i];
    clm__say_info("  %s%*s  %5zu  %8zu  %10zu", row->name, width - screen_width(row->name), "", i,
                  row->train, row->validation);
  }
  clm__say_info("  total%*s         %8zu  %10zu", width - 5, "", report->train_count,
                report->validation_count);
  clm__say_info("%s", "");
}

static void warn_of_bad_files(const clm_data_report *report, bool names_them)
{
  if (report->bad_count == 0) return;
  clm__say_warning("%zu file%s cannot be used and %s left out%s", report->bad_count,
                   report->bad_count == 1 ? "" : "s", report->bad_count == 1 ? "is" : "are",
                   names_them ? "" : "; bad_files.txt in the run folder names all of them");
  for (size_t i = 0; names_them && i < report->bad_count; i++)
    clm__say_warning("  %s: %s", report->bad_files[i].path, report->bad_files[i].reason);
}

static void warn_of_gaps(const clm_data_report *report)
{
  if (report->class_count == 1)
    clm__say_warning("there is one class alone: a model has nothing to tell apart");
  for (size_t i = 0; i < report->class_count; i++) {
    const clm_class_count *row = &report->classes[i];
    if (row->train == 0)
      clm__say_warning("class '%s' has no image to train on", row->name);
    else if (row->validation == 0 && report->validation_count > 0)
      clm__say_warning("class '%s' has no image for validation; --split stratified gives every "
                       "class its share",
                       row->name);
  }
}

void clm__folder_view(const char *folder, const clm_data_report *report, bool names_bad_files)
{
  char count[CLM__FORMAT_SIZE];
  const size_t images = report->train_count + report->validation_count;
  clm__say_info("Found %s images of %zu classes in %s", clm__format_count(images, count),
                report->class_count, folder);
  if (report->ignored_entries > 0)
    clm__say_info("%zu entr%s ignored: hidden, or not named like an image", report->ignored_entries,
                  report->ignored_entries == 1 ? "y was" : "ies were");
  print_table(report);
  warn_of_bad_files(report, names_bad_files);
  warn_of_gaps(report);
}
