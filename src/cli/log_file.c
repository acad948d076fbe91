#include "cli/log_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* What is kept until the file is open, at most. */
#define KEPT_BYTES ((size_t)1 << 20)

void clm__log_file_begin(clm__log_file *file, int rank, const char *host)
{
  file->is_wanted = true;
  file->rank = rank;
  (void)snprintf(file->host, sizeof file->host, "%s", host);
}

clm__text clm__log_file_name(const clm__log_file *file, const char *folder)
{
  clm__text name = {0};
  clm__text_add(&name, "%s/rank-%04d.log", folder, file->rank);
  return name;
}

void clm__log_file_close(clm__log_file *file)
{
  file->is_wanted = false;
  if (file->stream != NULL) (void)fclose(file->stream);
  file->stream = NULL;
  clm__text_fini(&file->kept);
}

/* Ends the file after a failure, whose reason stays in errno. */
static bool give_up(clm__log_file *file)
{
  const int reason = errno;
  clm__log_file_close(file);
  errno = reason;
  return false;
}

static bool write_out(const clm__log_file *file, const char *text)
{
  return fputs(text, file->stream) >= 0 && fflush(file->stream) == 0;
}

bool clm__log_file_open(clm__log_file *file, const char *folder, const char *name)
{
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return give_up(file);
  file->stream = fopen(name, "a");
  if (file->stream == NULL || !write_out(file, clm__text_get(&file->kept))) return give_up(file);
  clm__text_fini(&file->kept);
  return true;
}

/* "2026-01-31T12:00:00.123Z [rank 3 host b] " */
static void add_place(const clm__log_file *file, clm__text *line)
{
  struct timespec now;
  struct tm parts;
  char stamp[32] = "";
  (void)clock_gettime(CLOCK_REALTIME, &now);
  (void)gmtime_r(&now.tv_sec, &parts);
  (void)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
  clm__text_add(line, "%s.%03ldZ [rank %d host %s] ", stamp, now.tv_nsec / 1000000L, file->rank,
                file->host);
}

bool clm__log_file_add(clm__log_file *file, const char *prefix, const char *text)
{
  static const char name[] = "clematis: ";
  if (!file->is_wanted || file->kept.length > KEPT_BYTES) return true;
  if (strncmp(prefix, name, sizeof name - 1) == 0) prefix += sizeof name - 1;
  clm__text line = {0};
  add_place(file, &line);
  clm__text_add(&line, "%s%s\n", prefix, text);
  bool is_written = true;
  if (file->stream != NULL)
    is_written = write_out(file, clm__text_get(&line)) || give_up(file);
  else
    clm__text_add(&file->kept, "%s", clm__text_get(&line));
  clm__text_fini(&line);
  return is_written;
}
