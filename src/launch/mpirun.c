#include "launch/mpirun.h"

#include <stdio.h>
#include <string.h>

clm_status clm__mpirun_read_version(const char *text, clm__mpi_version *version)
{
  static const char mark[] = "(Open MPI) ";
  clm__mpi_version read = {0};
  const char *at = strstr(text, mark);
  const char *end = strchr(text, '\n');
  const int length = (int)(end != NULL ? end - text : (long)strlen(text));
  CLM_REQUIRE(
      at != NULL, CLM_UNSUPPORTED,
      "this mpirun is not Open MPI's ('%.*s'): install openmpi-bin, or name its mpirun with "
      "--mpirun",
      length > 80 ? 80 : length, text);
  at += strlen(mark);
  const int count = sscanf(at, "%4d.%4d.%4d", &read.major, &read.minor, &read.release);
  CLM_REQUIRE(count >= 2 && read.major >= 4, CLM_UNSUPPORTED,
              "Open MPI %.*s is too old: version 4 or 5 is needed", (int)strcspn(at, "\n"), at);
  *version = read;
  return CLM_OK;
}

static clm_status add_pair(clm__words *words, const char *option, const char *name,
                           const char *value)
{
  const char *const list[] = {option, name, value};
  return clm__words_add_list(words, list, 3);
}

static clm_status add_placement(const clm__mpirun *mpirun, clm__words *words)
{
  const bool is_old = mpirun->version.major < 5;
  CLM_TRY(clm__words_add(words, "-np"));
  CLM_TRY(clm__words_addf(words, "%d", mpirun->ranks));
  if (mpirun->host_file != NULL) {
    CLM_TRY(clm__words_add(words, "--hostfile"));
    CLM_TRY(clm__words_add(words, mpirun->host_file));
  }
  CLM_TRY(clm__words_add(words, "--map-by"));
  CLM_TRY(clm__words_add(words, mpirun->oversubscribe && !is_old ? "slot:OVERSUBSCRIBE" : "slot"));
  CLM_TRY(clm__words_add(words, "--bind-to"));
  CLM_TRY(clm__words_add(words, "none"));
  if (mpirun->oversubscribe && is_old) CLM_TRY(clm__words_add(words, "--oversubscribe"));
  return CLM_OK;
}

static clm_status add_transport(const clm__mpirun *mpirun, clm__words *words)
{
  const bool is_old = mpirun->version.major < 5;
  CLM_TRY(add_pair(words, "--mca", "pml", "ob1"));
  CLM_TRY(add_pair(words, "--mca", "btl", is_old ? "self,vader,tcp" : "self,sm,tcp"));
  if (mpirun->net == NULL) return CLM_OK;
  CLM_TRY(add_pair(words, "--mca", "btl_tcp_if_include", mpirun->net));
  return is_old ? add_pair(words, "--mca", "oob_tcp_if_include", mpirun->net)
                : add_pair(words, "--prtemca", "prte_if_include", mpirun->net);
}

/* A lost host is noticed after minutes by default, with these after one. Version 5 has no such
 * parameters under these names. */
static clm_status add_keepalive(const clm__mpirun *mpirun, clm__words *words)
{
  if (mpirun->version.major >= 5) return CLM_OK;
  CLM_TRY(add_pair(words, "--mca", "oob_tcp_keepalive_time", "30"));
  CLM_TRY(add_pair(words, "--mca", "oob_tcp_keepalive_intvl", "10"));
  return add_pair(words, "--mca", "oob_tcp_keepalive_probes", "3");
}

/* mpirun itself starts every daemon, so that the private key stays on one host. */
static clm_status add_ssh(const clm__mpirun *mpirun, clm__words *words)
{
  const bool is_old = mpirun->version.major < 5;
  const char *option = is_old ? "--mca" : "--prtemca";
  CLM_TRY(add_pair(words, option, is_old ? "plm_rsh_no_tree_spawn" : "plm_ssh_no_tree_spawn", "1"));
  if (mpirun->ssh == NULL || mpirun->ssh->count == 0) return CLM_OK;
  clm__str args = {0};
  clm_status status = CLM_OK;
  for (size_t i = 0; i < mpirun->ssh->count && status == CLM_OK; i++) {
    const char *word = mpirun->ssh->items[i];
    if (word[strcspn(word, " \t\n\"'")] != '\0')
      status = clm__error_fail(CLM_USAGE, __FILE__, __LINE__, __func__,
                               "mpirun cannot hand '%s' to ssh: a blank or quote is in it", word);
    else
      status = clm__str_add(&args, "%s%s", i > 0 ? " " : "", word);
  }
  if (status == CLM_OK)
    status = add_pair(words, option, is_old ? "plm_rsh_args" : "plm_ssh_args", clm__str_get(&args));
  clm__str_fini(&args);
  return status;
}

static clm_status add_env(const clm__words *env, clm__words *words)
{
  for (size_t i = 0; i < env->count; i++) {
    CLM_TRY(clm__words_add(words, "-x"));
    CLM_TRY(clm__words_addf(words, "%.*s", (int)strcspn(env->items[i], "="), env->items[i]));
  }
  return CLM_OK;
}

clm_status clm__mpirun_words(const clm__mpirun *mpirun, clm__words *words)
{
  CLM_TRY(clm__words_add(words, mpirun->path));
  CLM_TRY(add_placement(mpirun, words));
  CLM_TRY(add_transport(mpirun, words));
  if (mpirun->host_file != NULL || mpirun->by_scheduler) CLM_TRY(add_keepalive(mpirun, words));
  if (mpirun->host_file != NULL && !mpirun->by_scheduler) CLM_TRY(add_ssh(mpirun, words));
  if (mpirun->env != NULL) CLM_TRY(add_env(mpirun->env, words));
  CLM_TRY(clm__words_add_list(words, mpirun->extra, (size_t)mpirun->extra_count));
  const clm__words *command = mpirun->command;
  return clm__words_add_list(words, (const char *const *)command->items, command->count);
}

clm_status clm__mpirun_add_host(clm__str *file, const char *host, int slots)
{
  return clm__str_add(file, "%s slots=%d\n", host, slots);
}
