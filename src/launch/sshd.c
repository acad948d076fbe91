#define _GNU_SOURCE
#include "launch/sshd.h"

#include "base/mem.h"
#include "launch/process.h"
#include "launch/signals.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_BYTES_MAX ((size_t)1 << 16)
#define WATCH_SECONDS 2.0

static clm_status make_folder(char **folder)
{
  const char *base = getenv("TMPDIR");
  clm__str path = {0};
  CLM_TRY(clm__str_add(&path, "%s/clematis-XXXXXX", base != NULL ? base : "/tmp"));
  CLM_TRY(clm__str_take(&path, folder));
  CLM_REQUIRE(mkdtemp(*folder) != NULL, CLM_IO, "cannot make the folder %s: %s", *folder,
              strerror(errno));
  return CLM_OK;
}

clm_status clm__sshd_init(clm__sshd *sshd, int port)
{
  *sshd = (clm__sshd){.port = port};
  clm_status status = make_folder(&sshd->folder);
  if (status == CLM_OK) status = clm__file_join(sshd->folder, "host_key", &sshd->host_key);
  if (status == CLM_OK)
    status = clm__file_join(sshd->folder, "authorized_keys", &sshd->authorized_keys);
  if (status == CLM_OK) status = clm__file_join(sshd->folder, "sshd_config", &sshd->config);
  if (status != CLM_OK) clm__sshd_fini(sshd);
  return status;
}

void clm__sshd_fini(clm__sshd *sshd)
{
  clm__file_listing listing = {0};
  if (sshd->folder != NULL && clm__file_list(sshd->folder, &listing) == CLM_OK) {
    for (size_t i = 0; i < listing.count; i++) {
      char *path = NULL;
      if (clm__file_join(sshd->folder, listing.entries[i].name, &path) != CLM_OK) continue;
      (void)unlink(path);
      clm__mem_free(path);
    }
    clm__file_listing_fini(&listing);
    (void)rmdir(sshd->folder);
  }
  clm__mem_free(sshd->folder);
  clm__mem_free(sshd->host_key);
  clm__mem_free(sshd->authorized_keys);
  clm__mem_free(sshd->config);
  *sshd = (clm__sshd){0};
}

clm_status clm__sshd_make_key(const char *path, const char *comment)
{
  const char *const list[] = {"ssh-keygen", "-q", "-t",    "ed25519", "-N",
                              "",           "-C", comment, "-f",      path};
  clm__words words = {0};
  clm__str output = {0};
  int code = 0;
  clm_status status = clm__words_add_list(&words, list, sizeof list / sizeof *list);
  if (status == CLM_OK) status = clm__process_capture(&words, 30.0, &output, &code);
  if (status == CLM_OK && code != 0)
    status = clm__error_fail(CLM_IO, __FILE__, __LINE__, __func__, "ssh-keygen failed: %.200s",
                             clm__str_get(&output));
  clm__words_fini(&words);
  clm__str_fini(&output);
  return status;
}

clm_status clm__sshd_copy_key(const char *from, const char *to)
{
  char *key = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__file_read(from, KEY_BYTES_MAX, &key, &size_bytes));
  const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool is_written = fd >= 0 && write(fd, key, size_bytes) == (ssize_t)size_bytes;
  const int reason = errno;
  if (fd >= 0) (void)close(fd);
  memset(key, 0, size_bytes);
  clm__mem_free(key);
  CLM_REQUIRE(is_written, CLM_IO, "cannot write %s: %s", to, strerror(reason));
  return CLM_OK;
}

/* What a login must get from its own session, or what would mislead the program there. */
static bool is_left_out(const char *item)
{
  static const char *const left_out[] = {
      "HOME=",      "USER=",  "LOGNAME=", "SHELL=", "PWD=",        "OLDPWD=",
      "SHLVL=",     "TERM=",  "MAIL=",    "_=",     "SSH_",        "CLUSTER_SPEC=",
      "TF_CONFIG=", "K_MPI_", "OMPI_",    "PMIX_",  "KUBERNETES_", "HOSTNAME="};
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
    if (strncmp(item, left_out[i], strlen(left_out[i])) == 0) return true;
  /* Values that its configuration cannot hold. */
  return strchr(item, '=') == NULL || item[strcspn(item, "\"\\\r\n")] != '\0';
}

clm_status clm__sshd_add_config(const clm__sshd *sshd, char *const *environment, clm__str *text)
{
  CLM_TRY(clm__str_add(text,
                       "Port %d\n"
                       "HostKey %s\n"
                       "AuthorizedKeysFile %s\n"
                       "PidFile none\n"
                       "AuthenticationMethods publickey\n"
                       "PasswordAuthentication no\n"
                       "KbdInteractiveAuthentication no\n"
                       "PermitRootLogin prohibit-password\n"
                       "UsePAM no\n"
                       "StrictModes no\n"
                       "AllowTcpForwarding no\n"
                       "X11Forwarding no\n"
                       "PermitTunnel no\n"
                       "PermitUserEnvironment no\n"
                       "MaxStartups 1000\n",
                       sshd->port, sshd->host_key, sshd->authorized_keys));
  bool is_first = true;
  for (; *environment != NULL; environment++) {
    if (is_left_out(*environment)) continue;
    /* Only the first SetEnv line of a configuration counts. */
    CLM_TRY(clm__str_add(text, "%s\"%s\"", is_first ? "SetEnv " : " ", *environment));
    is_first = false;
  }
  return clm__str_add(text, "\n");
}

/* sshd only starts itself anew for logins when its name is an absolute path. */
static const char *find_sshd(void)
{
  static const char *const paths[] = {"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (access(paths[i], X_OK) == 0) return paths[i];
  return NULL;
}

static clm_status start(const clm__sshd *sshd, pid_t *pid)
{
  const char *path = find_sshd();
  clm__words words = {0};
  CLM_REQUIRE(path != NULL, CLM_NO_INPUT,
              "no ssh server is installed, and the other replicas come in by ssh: install "
              "openssh-server in the image");
  /* Where sshd separates its privileges, on the distributions that compile it so. */
  if (geteuid() == 0) (void)mkdir("/run/sshd", S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH);
  const char *const list[] = {path, "-D", "-e", "-f", sshd->config};
  clm_status status = clm__words_add_list(&words, list, sizeof list / sizeof *list);
  const clm__process_start how = {.argv = &words};
  if (status == CLM_OK) status = clm__process_run(&how, pid);
  clm__words_fini(&words);
  return status;
}

clm_status clm__sshd_serve(const clm__sshd *sshd, clm_status (*watch)(void *user), void *user)
{
  pid_t pid = 0;
  int code = 0;
  int number = 0;
  clm__str text = {0};
  clm_status status = clm__sshd_add_config(sshd, environ, &text);
  if (status == CLM_OK) status = clm__file_write(sshd->config, text.text, text.length);
  clm__str_fini(&text);
  if (status == CLM_OK) status = start(sshd, &pid);
  CLM_TRY(status);
  while (status == CLM_OK && number != SIGTERM && number != SIGINT) {
    if (clm__process_has_ended(pid, &code))
      CLM_FAIL(CLM_IO, "the ssh server ended with status %d; is port %d in use?", code, sshd->port);
    number = clm__signals_wait(WATCH_SECONDS);
    if (watch != NULL) status = watch(user);
  }
  /* The whole group: what mpirun started here ends too. */
  clm__process_signal(pid, SIGTERM, true);
  while (!clm__process_has_ended(pid, &code)) (void)clm__signals_wait(0.1);
  return status;
}
