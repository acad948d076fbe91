/* What a job needs on a machine, looked at before it is needed. */
#include "base/mem.h"
#include "launch/process.h"
#include "launch/runner.h"
#include "sys/file.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define SHM_BYTES_LEAST ((uint64_t)256 << 20)
#define CLOCK_SECONDS_MOST 2
#define FILE_BYTES_MAX ((size_t)1 << 20)

typedef struct doctor {
  const clm_launch_config *config;
  void (*visit)(void *user, const clm_check *check);
  void *user;
  int bad_count;
} doctor_state;

static void tell(doctor_state *doctor, clm_check_result result, const char *subject,
                 const char *mend, const char *format, ...) __attribute__((format(printf, 5, 6)));

static void tell(doctor_state *doctor, clm_check_result result, const char *subject,
                 const char *mend, const char *format, ...)
{
  char found[600];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(found, sizeof found, format, arguments);
  va_end(arguments);
  const clm_check check = {
      .result = result,
      .subject = subject,
      .found = found,
      .mend = result == CLM_CHECK_GOOD ? "" : mend,
  };
  if (result == CLM_CHECK_BAD) doctor->bad_count++;
  doctor->visit(doctor->user, &check);
}

static void check_mpi(doctor_state *doctor)
{
  clm__mpi_version version = {0};
  const clm_status status = clm__runner_find_mpi(doctor->config, &version);
  if (status == CLM_OK)
    tell(doctor, CLM_CHECK_GOOD, "Open MPI", "", "version %d.%d.%d", version.major, version.minor,
         version.release);
  else
    tell(doctor, status == CLM_NO_INPUT ? CLM_CHECK_NOTE : CLM_CHECK_BAD, "Open MPI",
         "install openmpi-bin; one rank on one machine runs without it", "%s",
         clm_error_last()->message);
}

static bool is_in_path(const char *name)
{
  const char *at = getenv("PATH");
  while (at != NULL && *at != '\0') {
    const size_t length = strcspn(at, ":");
    char path[1024];
    (void)snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
    if (access(path, X_OK) == 0) return true;
    at += length + (at[length] == ':');
  }
  return false;
}

static void check_ssh(doctor_state *doctor)
{
  static const char *const names[] = {"ssh", "ssh-keygen"};
  for (size_t i = 0; i < 2; i++) {
    const bool is_there = is_in_path(names[i]);
    tell(doctor, is_there ? CLM_CHECK_GOOD : CLM_CHECK_NOTE, names[i],
         "install openssh-client; jobs on several machines need it", "%s",
         is_there ? "found" : "not found");
  }
  const bool is_server = access("/usr/sbin/sshd", X_OK) == 0;
  tell(doctor, is_server ? CLM_CHECK_GOOD : CLM_CHECK_NOTE, "sshd",
       "install openssh-server in images whose replicas are reached by ssh", "%s",
       is_server ? "found" : "not found");
}

/* Loads the library that a driver's file names, as the OpenCL loader does. */
static void check_driver(doctor_state *doctor, const char *path)
{
  char *text = NULL;
  size_t size_bytes = 0;
  if (clm__file_read(path, FILE_BYTES_MAX, &text, &size_bytes) != CLM_OK) {
    tell(doctor, CLM_CHECK_BAD, path, "make the file readable", "%s", clm_error_last()->message);
    return;
  }
  text[strcspn(text, " \t\r\n")] = '\0';
  /* It stays loaded: some drivers do not survive being unloaded. */
  const bool is_there = dlopen(text, RTLD_LAZY | RTLD_LOCAL) != NULL;
  const char *reason = is_there ? NULL : dlerror();
  if (is_there)
    tell(doctor, CLM_CHECK_GOOD, path, "", "%s", text);
  else
    tell(doctor, CLM_CHECK_NOTE, path,
         strstr(text, "nvidia") != NULL
             ? "on a machine with an NVIDIA card: start the container with the NVIDIA runtime and "
               "NVIDIA_DRIVER_CAPABILITIES=compute,utility, or add the driver's folder (often "
               "/usr/local/nvidia/lib64) to /etc/ld.so.conf.d"
             : "install the vendor's OpenCL library, or leave it where there is no such device",
         "%s", reason != NULL ? reason : "cannot be loaded");
  clm__mem_free(text);
}

static void check_drivers(doctor_state *doctor)
{
  const char *folder = getenv("OCL_ICD_VENDORS");
  char pattern[1024];
  glob_t found = {0};
  if (folder == NULL || folder[0] == '\0') folder = "/etc/OpenCL/vendors";
  (void)snprintf(pattern, sizeof pattern, "%s/*.icd", folder);
  if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc == 0)
    tell(doctor, CLM_CHECK_BAD, folder,
         "install a driver: pocl-opencl-icd for CPUs; for NVIDIA a file nvidia.icd with the line "
         "libnvidia-opencl.so.1",
         "no .icd file, so the OpenCL loader knows no driver");
  for (size_t i = 0; i < found.gl_pathc; i++) check_driver(doctor, found.gl_pathv[i]);
  globfree(&found);
}

static void check_device_files(doctor_state *doctor)
{
  static const char *const patterns[] = {"/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD*"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    glob_t found = {0};
    if (glob(patterns[i], 0, NULL, &found) == 0) {
      for (size_t k = 0; k < found.gl_pathc; k++) {
        const char *path = found.gl_pathv[k];
        const bool is_open = access(path, R_OK | W_OK) == 0;
        tell(doctor, is_open ? CLM_CHECK_GOOD : CLM_CHECK_BAD, path,
             "this user may not use it: add the user to the file's group (render, video), in "
             "containers by its number",
             "%s", is_open ? "may be used" : "no right to read and write");
      }
    }
    globfree(&found);
  }
}

static void check_surroundings(doctor_state *doctor)
{
  const char *capabilities = getenv("NVIDIA_DRIVER_CAPABILITIES");
  struct statvfs shm;
  if (capabilities != NULL) {
    const bool is_enough =
        strstr(capabilities, "compute") != NULL || strcmp(capabilities, "all") == 0;
    tell(doctor, is_enough ? CLM_CHECK_GOOD : CLM_CHECK_BAD, "NVIDIA_DRIVER_CAPABILITIES",
         "OpenCL needs compute: set it to compute,utility", "%s", capabilities);
  }
  if (statvfs("/dev/shm", &shm) != 0) return;
  const uint64_t bytes = (uint64_t)shm.f_blocks * (uint64_t)shm.f_frsize;
  tell(doctor, bytes >= SHM_BYTES_LEAST ? CLM_CHECK_GOOD : CLM_CHECK_NOTE, "/dev/shm",
       "several ranks on a machine share memory there: start the container with --ipc=host or a "
       "larger --shm-size",
       "%llu MB", (unsigned long long)(bytes >> 20));
}

/* Runs a command on a host; what it printed is added. Whether it ended well. */
static bool ask_host(const doctor_state *doctor, const char *host, const clm__words *command,
                     clm__str *output)
{
  const clm__ssh ssh = {.port = doctor->config->ssh_port, .key = doctor->config->ssh_key};
  clm__words options = {0};
  clm__words words = {0};
  int code = 1;
  clm_status status = clm__ssh_options(&ssh, &options);
  if (status == CLM_OK) status = clm__ssh_command(&options, host, command, &words);
  if (status == CLM_OK) status = clm__process_capture(&words, 60.0, output, &code);
  clm__words_fini(&options);
  clm__words_fini(&words);
  return status == CLM_OK && code == 0;
}

static clm_status check_clock(doctor_state *doctor, const char *host)
{
  clm__words command = {0};
  clm__str output = {0};
  clm_status status = clm__words_add(&command, "date");
  if (status == CLM_OK) status = clm__words_add(&command, "+%s");
  if (status == CLM_OK) {
    const long long before = (long long)time(NULL);
    const bool has_answered = ask_host(doctor, host, &command, &output);
    const long long after = (long long)time(NULL);
    const long long there = strtoll(clm__str_get(&output), NULL, 10);
    const bool is_equal =
        there >= before - CLOCK_SECONDS_MOST && there <= after + CLOCK_SECONDS_MOST;
    if (!has_answered)
      tell(doctor, CLM_CHECK_BAD, host,
           "`ssh HOST true` must work without a question: copy your key there, accept its host "
           "key once",
           "%s", clm__ssh_reason(&output));
    else
      tell(doctor, is_equal ? CLM_CHECK_GOOD : CLM_CHECK_NOTE, host,
           "set the clocks by NTP: traces and logs of the machines do not fit together",
           "answers ssh, its clock is %lld s off", is_equal ? 0 : there - after);
  }
  clm__words_fini(&command);
  clm__str_fini(&output);
  return status;
}

/* Whether a host reads through the shared folder what was written here. */
static clm_status check_sharing(doctor_state *doctor, const char *host, const char *path,
                                const char *content)
{
  clm__words command = {0};
  clm__str output = {0};
  clm_status status = clm__words_add(&command, "cat");
  if (status == CLM_OK) status = clm__words_add(&command, path);
  if (status == CLM_OK) {
    const bool is_same =
        ask_host(doctor, host, &command, &output) && strcmp(clm__str_get(&output), content) == 0;
    tell(doctor, is_same ? CLM_CHECK_GOOD : CLM_CHECK_BAD, "shared folder",
         "mount the same folder under the same name on every host", "%s %s what was written here",
         host, is_same ? "reads" : "does not see");
  }
  clm__words_fini(&command);
  clm__str_fini(&output);
  return status;
}

static clm_status check_folder(doctor_state *doctor, const clm__hosts *hosts)
{
  const char *folder = doctor->config->base_output_dir;
  char content[64];
  char *path = NULL;
  if (folder == NULL) return CLM_OK;
  (void)snprintf(content, sizeof content, "clematis %lld\n", (long long)time(NULL));
  clm_status status = clm__file_make_folder(folder);
  if (status == CLM_OK) status = clm__file_join(folder, ".doctor", &path);
  if (status == CLM_OK) status = clm__file_write(path, content, strlen(content));
  if (status == CLM_OK) {
    tell(doctor, CLM_CHECK_GOOD, folder, "", "can be written");
    for (size_t i = 0; i < hosts->count && status == CLM_OK; i++)
      if (!clm__hosts_is_here(hosts->items[i].name))
        status = check_sharing(doctor, hosts->items[i].name, path, content);
    if (status == CLM_OK) status = clm__file_remove(path);
  } else if (status != CLM_NO_MEMORY) {
    tell(doctor, CLM_CHECK_BAD, folder, "give this user the right to write there", "%s",
         clm_error_last()->message);
    status = CLM_OK;
  }
  clm__mem_free(path);
  return status;
}

static clm_status read_hosts(const clm_launch_config *config, clm__hosts *hosts)
{
  char *text = NULL;
  size_t size_bytes = 0;
  if (config->hosts != NULL) return clm__hosts_parse(config->hosts, hosts);
  if (config->host_file == NULL) return CLM_OK;
  CLM_TRY(clm__file_read(config->host_file, FILE_BYTES_MAX, &text, &size_bytes));
  const clm_status status = clm__hosts_read(text, config->host_file, hosts);
  clm__mem_free(text);
  return status;
}

clm_status clm_doctor_run(const clm_launch_config *config,
                          void (*visit)(void *user, const clm_check *check), void *user,
                          int *bad_count)
{
  doctor_state doctor = {.config = config, .visit = visit, .user = user};
  clm__hosts hosts = {0};
  CLM_TRY(read_hosts(config, &hosts));
  check_mpi(&doctor);
  check_ssh(&doctor);
  check_drivers(&doctor);
  check_device_files(&doctor);
  check_surroundings(&doctor);
  clm_status status = CLM_OK;
  for (size_t i = 0; i < hosts.count && status == CLM_OK; i++)
    if (!clm__hosts_is_here(hosts.items[i].name))
      status = check_clock(&doctor, hosts.items[i].name);
  if (status == CLM_OK) status = check_folder(&doctor, &hosts);
  clm__hosts_fini(&hosts);
  CLM_TRY(status);
  *bad_count = doctor.bad_count;
  return CLM_OK;
}
