#include "cli/say.h"

#include "cli/event_line.h"
#include "cli/log_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The library calls the log from its own threads, which know nothing of the program's objects. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static clm__voice voice;
static bool has_live_line;
static clm__log_file log_file;

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

static bool is_heard(const FILE *stream)
{
  return stream != NULL && (stream != stdout || !(ranks.is_silent || voice.events));
}

/* One line to a stream where it is heard there, and to this rank's log file. NULL: to that alone.
 */
static void put_line(FILE *stream, const char *prefix, const char *text)
{
  (void)pthread_mutex_lock(&lock);
  if (is_heard(stream)) {
    clear_live_line();
    (void)fprintf(stream, "%s%s%s\n", stream == stderr ? ranks.label : "", prefix, text);
    (void)fflush(stream);
  }
  const bool is_logged = clm__log_file_add(&log_file, prefix, text);
  const int reason = errno;
  (void)pthread_mutex_unlock(&lock);
  if (!is_logged) clm__say_warning("the log file of this rank ends here: %s", strerror(reason));
}

static void print_line(FILE *stream, const char *prefix, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

static void print_line(FILE *stream, const char *prefix, const char *format, va_list arguments)
{
  clm__text text = {0};
  clm__text_add_list(&text, format, arguments);
  put_line(stream, prefix, clm__text_get(&text));
  clm__text_fini(&text);
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
  if (ranks.keeps_errors) {
    (void)vsnprintf(ranks.kept, sizeof ranks.kept, format, arguments);
    put_line(NULL, "", ranks.kept);
  } else {
    print_line(stderr, "clematis: ", format, arguments);
  }
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
    put_line(NULL, "warning: ", message);
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
  (void)fflush(stdout);
  (void)pthread_mutex_unlock(&lock);
}

void clm__say_info(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  print_line(voice.quiet ? NULL : stdout, "", format, arguments);
  va_end(arguments);
}

void clm__say_to_log(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  print_line(NULL, "", format, arguments);
  va_end(arguments);
}

void clm__say_begin_log(int rank, const char *host) { clm__log_file_begin(&log_file, rank, host); }

void clm__say_open_log(const char *folder)
{
  (void)pthread_mutex_lock(&lock);
  const bool is_due = log_file.is_wanted && log_file.stream == NULL;
  clm__text name = clm__log_file_name(&log_file, folder);
  const bool is_open = !is_due || clm__log_file_open(&log_file, folder, clm__text_get(&name));
  const int reason = errno;
  (void)pthread_mutex_unlock(&lock);
  if (!is_open)
    clm__say_warning("this rank has no log file: %s cannot be written: %s; --log-folder FOLDER "
                     "takes another folder",
                     clm__text_get(&name), strerror(reason));
  clm__text_fini(&name);
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
  const bool is_heard_here =
      !ranks.is_silent && !voice.quiet && (level != CLM_LOG_DETAIL || voice.verbose);
  FILE *const stream = voice.info_to_out ? stdout : stderr;
  if (is_heard_here && voice.events) say_message_event("message", message);
  put_line(is_heard_here && !voice.events ? stream : NULL, "", message);
}

const clm_log *clm__say_log(void)
{
  static const clm_log log = {.receive = receive};
  return &log;
}

clm_status clm__say_finish(clm_status status)
{
  clm__say_live("");
  clm__log_file_close(&log_file);
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  if (status != CLM_OK || errno == EPIPE) return status;
  return clm__say_error(CLM_IO, "cannot write to standard output: %s", strerror(errno));
}
