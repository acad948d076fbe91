#include "launch/ssh.h"

#include "base/log.h"
#include "base/mem.h"
#include "launch/process.h"
#include "launch/shell.h"
#include "launch/signals.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static clm_status add_option(clm__words *words, const char *option)
{
  CLM_TRY(clm__words_add(words, "-o"));
  return clm__words_add(words, option);
}

clm_status clm__ssh_options(const clm__ssh *ssh, clm__words *words)
{
  static const char *const always[] = {"BatchMode=yes", "ConnectTimeout=5", "ConnectionAttempts=10",
                                       "ServerAliveInterval=15"};
  if (ssh->known_hosts != NULL) {
    CLM_TRY(clm__words_add(words, "-F"));
    CLM_TRY(clm__words_add(words, "none"));
    CLM_TRY(add_option(words, "StrictHostKeyChecking=yes"));
    CLM_TRY(clm__words_add(words, "-o"));
    CLM_TRY(clm__words_addf(words, "UserKnownHostsFile=%s", ssh->known_hosts));
    CLM_TRY(add_option(words, "GlobalKnownHostsFile=none"));
  }
  if (ssh->port > 0) CLM_TRY(clm__words_add(words, "-p"));
  if (ssh->port > 0) CLM_TRY(clm__words_addf(words, "%d", ssh->port));
  if (ssh->key != NULL) {
    CLM_TRY(clm__words_add(words, "-i"));
    CLM_TRY(clm__words_add(words, ssh->key));
    CLM_TRY(add_option(words, "IdentitiesOnly=yes"));
  }
  for (size_t i = 0; i < sizeof always / sizeof *always; i++) CLM_TRY(add_option(words, always[i]));
  return CLM_OK;
}

clm_status clm__ssh_command(const clm__words *options, const char *host, const clm__words *command,
                            clm__words *words)
{
  clm__str quoted = {0};
  CLM_TRY(clm__words_add(words, "ssh"));
  CLM_TRY(clm__words_add_list(words, (const char *const *)options->items, options->count));
  CLM_TRY(clm__words_add(words, host));
  const clm_status status = clm__shell_add_words(&quoted, command);
  if (status != CLM_OK) clm__str_fini(&quoted);
  CLM_TRY(status);
  return clm__words_add_str(words, &quoted);
}

/* Host names go to ssh as words of their own: one that begins with '-' would be an option. */
static bool is_host(const char *name)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._-:@%[]";
  return name[0] != '\0' && name[0] != '-' && name[strspn(name, letters)] == '\0';
}

static clm_status add_host(const char *name, size_t length, int slots, clm__hosts *hosts)
{
  clm__str text = {0};
  char *copy = NULL;
  CLM_TRY(clm__mem_resize(hosts->count + 1, sizeof *hosts->items, &hosts->items));
  CLM_TRY(clm__str_add_bytes(&text, name, length));
  CLM_TRY(clm__str_take(&text, &copy));
  hosts->items[hosts->count++] = (clm__host){.name = copy, .slots = slots};
  return CLM_OK;
}

/* Reads a number of slots; 0 where it is none. */
static int read_slots(const char *text, size_t length)
{
  char digits[8] = {0};
  if (length == 0 || length >= sizeof digits) return 0;
  memcpy(digits, text, length);
  if (strspn(digits, "0123456789") != length) return 0;
  return (int)strtol(digits, NULL, 10);
}

static clm_status read_line(const char *line, size_t length, int number, const char *what,
                            clm__hosts *hosts)
{
  static const char blanks[] = " \t\r";
  static const char key[] = "slots=";
  int slots = 0;
  const size_t start = strspn(line, blanks);
  const size_t name = strcspn(line + start, " \t\r\n#");
  if (start + name > length || name == 0) return CLM_OK;
  size_t at = start + name;
  while (at < length && line[at] != '#') {
    at += strspn(line + at, blanks);
    const size_t word = strcspn(line + at, " \t\r\n#");
    const bool is_slots = word > strlen(key) && strncmp(line + at, key, strlen(key)) == 0;
    if (is_slots) slots = read_slots(line + at + strlen(key), word - strlen(key));
    const bool is_other = word > 0 && strncmp(line + at, "max_slots=", 10) != 0;
    CLM_REQUIRE(is_slots ? slots > 0 : !is_other, CLM_BAD_DATA,
                "%s: line %d: '%.*s' is not understood; write HOST slots=N", what, number,
                (int)word, line + at);
    at += word;
    if (word == 0) break;
  }
  CLM_TRY(add_host(line + start, name, slots, hosts));
  CLM_REQUIRE(is_host(hosts->items[hosts->count - 1].name), CLM_BAD_DATA,
              "%s: line %d: '%s' is no name of a host", what, number,
              hosts->items[hosts->count - 1].name);
  return CLM_OK;
}

clm_status clm__hosts_read(const char *text, const char *what, clm__hosts *hosts)
{
  *hosts = (clm__hosts){0};
  clm_status status = CLM_OK;
  for (int number = 1; *text != '\0' && status == CLM_OK; number++) {
    const size_t length = strcspn(text, "\n");
    status = read_line(text, length, number, what, hosts);
    text += length + (text[length] == '\n');
  }
  if (status != CLM_OK) clm__hosts_fini(hosts);
  return status;
}

static clm_status parse_one(const char *text, size_t length, clm__hosts *hosts)
{
  const char *colon = memchr(text, ':', length);
  const size_t name = colon != NULL ? (size_t)(colon - text) : length;
  const int slots = colon != NULL ? read_slots(colon + 1, length - name - 1) : 0;
  CLM_REQUIRE(colon == NULL || slots > 0, CLM_USAGE, "--hosts: '%.*s' is no HOST:SLOTS",
              (int)length, text);
  CLM_TRY(add_host(text, name, slots, hosts));
  CLM_REQUIRE(is_host(hosts->items[hosts->count - 1].name), CLM_USAGE,
              "--hosts: '%.*s' is no name of a host", (int)length, text);
  return CLM_OK;
}

clm_status clm__hosts_parse(const char *text, clm__hosts *hosts)
{
  *hosts = (clm__hosts){0};
  clm_status status = CLM_OK;
  do {
    const size_t length = strcspn(text, ",");
    status = parse_one(text, length, hosts);
    text += length + (text[length] == ',');
  } while (*text != '\0' && status == CLM_OK);
  if (status != CLM_OK) clm__hosts_fini(hosts);
  return status;
}

void clm__hosts_fini(clm__hosts *hosts)
{
  for (size_t i = 0; i < hosts->count; i++) clm__mem_free(hosts->items[i].name);
  clm__mem_free(hosts->items);
  *hosts = (clm__hosts){0};
}

/* Whether one name is the other, or the other without its domain. */
static bool are_one(const char *a, const char *b)
{
  const size_t length = strcspn(a, ".");
  const bool has_two_domains = a[length] == '.' && b[strcspn(b, ".")] == '.';
  return strcmp(a, b) == 0 ||
         (!has_two_domains && length == strcspn(b, ".") && strncmp(a, b, length) == 0);
}

bool clm__hosts_is_here(const char *name)
{
  char own[256] = {0};
  if (strcmp(name, "localhost") == 0) return true;
  return gethostname(own, sizeof own - 1) == 0 && are_one(own, name);
}

/* A host that is asked whether it answers. */
typedef struct asked_host {
  pid_t pid; /* 0: not asked now */
  bool has_answered;
  double next; /* when it is asked again */
} asked_host;

#define ASK_SECONDS 1.0
#define LOOK_SECONDS 5.0

/* `ssh HOST true`, trying once: we are the ones who try again. */
static clm_status make_question(const char *host, const clm__words *options, clm__words *words)
{
  clm__words question = {0};
  clm__words all = {0};
  clm_status status = clm__words_add(&question, "true");
  /* Of several values of an option ssh takes the first. */
  if (status == CLM_OK) status = add_option(&all, "ConnectionAttempts=1");
  if (status == CLM_OK)
    status = clm__words_add_list(&all, (const char *const *)options->items, options->count);
  if (status == CLM_OK) status = clm__ssh_command(&all, host, &question, words);
  clm__words_fini(&question);
  clm__words_fini(&all);
  return status;
}

static clm_status ask(const char *host, const clm__words *options, pid_t *pid)
{
  clm__words words = {0};
  const clm__process_start start = {.argv = &words, .is_silent = true};
  clm_status status = make_question(host, options, &words);
  if (status == CLM_OK) status = clm__process_run(&start, pid);
  clm__words_fini(&words);
  return status;
}

/* Looks after one host; *left counts those that have not answered. */
static clm_status look_after(const clm__host *host, const clm__words *options, asked_host *asking,
                             size_t *left)
{
  int code = 0;
  if (asking->has_answered) return CLM_OK;
  if (asking->pid != 0 && clm__process_has_ended(asking->pid, &code)) {
    asking->pid = 0;
    asking->has_answered = code == 0;
    asking->next = clm__clock_seconds() + ASK_SECONDS;
  }
  if (asking->has_answered) return CLM_OK;
  (*left)++;
  if (asking->pid == 0 && clm__clock_seconds() >= asking->next)
    return ask(host->name, options, &asking->pid);
  return CLM_OK;
}

const char *clm__ssh_reason(clm__str *output)
{
  while (output->length > 0 && strchr("\r\n", output->text[output->length - 1]) != NULL)
    output->text[--output->length] = '\0';
  const char *line = strrchr(clm__str_get(output), '\n');
  return line != NULL ? line + 1 : clm__str_get(output);
}

/* Asks once more, for the reason. */
static clm_status fail_host(const char *host, const clm__words *options, double seconds)
{
  clm__words words = {0};
  clm__str output = {0};
  int code = 0;
  clm_status status = make_question(host, options, &words);
  if (status == CLM_OK) status = clm__process_capture(&words, 10.0, &output, &code);
  clm__words_fini(&words);
  if (status == CLM_OK)
    status = clm__error_fail(CLM_PEER_FAILED, __FILE__, __LINE__, __func__,
                             "host %s did not answer ssh within %.0f s: %s", host, seconds,
                             clm__ssh_reason(&output));
  clm__str_fini(&output);
  return status;
}

static void end_asking(asked_host *askings, size_t count)
{
  int code = 0;
  for (size_t i = 0; i < count; i++) {
    if (askings[i].pid == 0) continue;
    clm__process_signal(askings[i].pid, SIGKILL, true);
    while (!clm__process_has_ended(askings[i].pid, &code)) (void)clm__signals_wait(0.01);
  }
}

static clm_status wait_for_all(const clm__hosts *hosts, const clm__hosts_call *call,
                               asked_host *askings)
{
  const double begin = clm__clock_seconds();
  double next_look = begin + LOOK_SECONDS;
  for (;;) {
    size_t left = 0;
    size_t missing = 0;
    for (size_t i = 0; i < hosts->count; i++) {
      CLM_TRY(look_after(&hosts->items[i], call->options, &askings[i], &left));
      if (!askings[i].has_answered) missing = i;
    }
    const double now = clm__clock_seconds();
    if (left == 0) return CLM_OK;
    if (now >= begin + call->seconds)
      return fail_host(hosts->items[missing].name, call->options, call->seconds);
    if (clm__signals_wait(0.1) != 0) CLM_FAIL(CLM_STOPPED, "stopped while waiting for hosts");
    if (call->look == NULL || now < next_look) continue;
    CLM_TRY(call->look(call->user));
    next_look = now + LOOK_SECONDS;
  }
}

clm_status clm__hosts_wait(const clm__hosts *hosts, const clm__hosts_call *call)
{
  asked_host *askings = NULL;
  CLM_TRY(clm__mem_alloc(hosts->count, sizeof *askings, &askings));
  for (size_t i = 0; i < hosts->count; i++)
    askings[i].has_answered = clm__hosts_is_here(hosts->items[i].name);
  clm__log(call->log, CLM_LOG_DETAIL, "waiting for %zu hosts", hosts->count);
  const clm_status status = wait_for_all(hosts, call, askings);
  end_asking(askings, hosts->count);
  clm__mem_free(askings);
  return status;
}
