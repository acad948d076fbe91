#include "cli/say.h"

#include "cli/event_line.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The library calls the log from its own threads, which know nothing of the program's objects. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static clm__voice voice;
static bool has_live_line;

/* How a rank of several speaks. */
static struct {
  bool keeps_errors;
  bool is_silent;
  char label[300]; /* "[rank 1 host b] " */
  char kept[CLM_ERROR_MESSAGE_SIZE];
} ranks;

void clm__say_set_voice(const clm__voice *wanted) { voice = *wanted; }

void clm__say_as_rank(int rank, const char *host)
{
  ranks.keeps_errors = true;
  ranks.is_silent = rank > 0;
  if (rank > 0) (void)snprintf(ranks.label, sizeof ranks.label, "[rank %d host %s] ", rank, host);
}

const char *clm__say_kept_error(void) { return ranks.kept; }

static void clear_live_line(void)
{
  if (!has_live_line) return;
  (void)fputs("\r\033[K", stdout);
  (void)fflush(stdout);
  has_live_line = false;
}

static void print_line(FILE *stream, const char *prefix, const char *format, va_list arguments)
{
  if ((ranks.is_silent || voice.events) && stream == stdout) return;
  (void)pthread_mutex_lock(&lock);
  clear_live_line();
  if (stream == stderr) (void)fputs(ranks.label, stream);
  (void)fputs(prefix, stream);
  (void)vfprintf(stream, format, arguments);
  (void)fputc('\n', stream);
  (void)fflush(stream);
  (void)pthread_mutex_unlock(&lock);
}

static void print_text(FILE *stream, const char *prefix, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_text(FILE *stream, const char *prefix, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  print_line(stream, prefix, format, arguments);
  va_end(arguments);
}

clm_status clm__say_error(clm_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (ranks.keeps_errors)
    (void)vsnprintf(ranks.kept, sizeof ranks.kept, format, arguments);
  else
    print_line(stderr, "clematis: ", format, arguments);
  va_end(arguments);
  return status;
}

clm_status clm__say_library_error(clm_status status)
{
  if (ranks.keeps_errors) return clm__say_error(status, "%s", clm_error_last()->message);
  return clm__say_agreed_error(status);
}

clm_status clm__say_agreed_error(clm_status status)
{
  const clm_error *error = clm_error_last();
  const bool has_message = error->status == status && error->message[0] != '\0';
  print_text(stderr, "clematis: ", "%s%s", has_message ? error->message : clm_status_text(status),
             status == CLM_INTERNAL ? " (a bug in Clematis: please report it)" : "");
  for (int i = 0; voice.verbose && error->status == status && i < error->frame_count; i++) {
    const clm_error_frame *frame = &error->frames[i];
    print_text(stderr, "  ", "at %s:%d in %s", frame->file, frame->line, frame->function);
  }
  return status;
}

void clm__say_notice(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  print_line(stderr, "clematis: ", format, arguments);
  va_end(arguments);
}

void clm__say_event(clm__text *line)
{
  clm__event_line_end(line);
  if (!ranks.is_silent) {
    (void)pthread_mutex_lock(&lock);
    (void)fprintf(stdout, "%s\n", clm__text_get(line));
    (void)fflush(stdout);
    (void)pthread_mutex_unlock(&lock);
  }
  clm__text_fini(line);
}

static void say_message_event(const char *event, const char *message)
{
  clm__text line = clm__event_line_begin(event);
  clm__event_line_text(&line, "message", message);
  clm__say_event(&line);
}

void clm__say_warning(const char *format, ...)
{
  char message[CLM_ERROR_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  if (voice.events && !ranks.is_silent) {
    (void)vsnprintf(message, sizeof message, format, arguments);
    say_message_event("warning", message);
  } else {
    print_line(stderr, "clematis: warning: ", format, arguments);
  }
  va_end(arguments);
}

void clm__say(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  print_line(stdout, "", format, arguments);
  va_end(arguments);
}

void clm__say_text(const char *text)
{
  if (ranks.is_silent) return;
  (void)pthread_mutex_lock(&lock);
  clear_live_line();
  (void)fputs(text, stdout);
  (void)pthread_mutex_unlock(&lock);
}

void clm__say_info(const char *format, ...)
{
  if (voice.quiet) return;
  va_list arguments;
  va_start(arguments, format);
  print_line(stdout, "", format, arguments);
  va_end(arguments);
}

void clm__say_live(const char *text)
{
  if (ranks.is_silent || voice.events) return;
  (void)pthread_mutex_lock(&lock);
  if (text[0] != '\0') {
    (void)fprintf(stdout, "\r%s\033[K", text);
    (void)fflush(stdout);
    has_live_line = true;
  } else {
    clear_live_line();
  }
  (void)pthread_mutex_unlock(&lock);
}

static void receive(void *user, clm_log_level level, const char *message)
{
  (void)user;
  if (level == CLM_LOG_WARNING) {
    clm__say_warning("%s", message);
    return;
  }
  if (ranks.is_silent || voice.quiet || (level == CLM_LOG_DETAIL && !voice.verbose)) return;
  if (voice.events)
    say_message_event("message", message);
  else
    print_text(voice.info_to_out ? stdout : stderr, "", "%s", message);
}

const clm_log *clm__say_log(void)
{
  static const clm_log log = {.receive = receive};
  return &log;
}

clm_status clm__say_finish(clm_status status)
{
  clm__say_live("");
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  if (status != CLM_OK || errno == EPIPE) return status;
  return clm__say_error(CLM_IO, "cannot write to standard output: %s", strerror(errno));
}
