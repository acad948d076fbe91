/* Words: quoting that a real shell reads back, $(VAR), host files, roles, clusters, mpirun's line.
 */
#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "launch/cluster.h"
#include "launch/expand.h"
#include "launch/mpirun.h"
#include "launch/process.h"
#include "launch/roles.h"
#include "launch/shell.h"
#include "launch/ssh.h"

#include <string.h>

/* A real shell prints each word behind a mark. */
static void a_shell_reads_words_back(void **state)
{
  static const char *const hard[] = {"plain", "",         "a b", "it's",      "$(touch /tmp/x)",
                                     "`id`",  "\\",       "\"",  "new\nline", "*",
                                     "~",     "=x",       "-n",  "#",         "a;b",
                                     "!",     "\xc3\xa4", "''",  "%s",        "{a,b}"};
  const size_t count = sizeof hard / sizeof *hard;
  clm__words words = {0};
  clm__words shell = {0};
  clm__str script = {0};
  clm__str output = {0};
  clm__str expected = {0};
  int code = 1;
  (void)state;
  assert_int_equal(clm__words_add_list(&words, hard, count), CLM_OK);
  assert_int_equal(clm__str_add(&script, "printf '<%%s>' "), CLM_OK);
  assert_int_equal(clm__shell_add_words(&script, &words), CLM_OK);
  const char *const command[] = {"sh", "-c", clm__str_get(&script)};
  assert_int_equal(clm__words_add_list(&shell, command, 3), CLM_OK);
  assert_int_equal(clm__process_capture(&shell, 10.0, &output, &code), CLM_OK);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(clm__str_add(&expected, "<%s>", hard[i]), CLM_OK);
  assert_int_equal(code, 0);
  assert_string_equal(clm__str_get(&output), clm__str_get(&expected));
  clm__words_fini(&words);
  clm__words_fini(&shell);
  clm__str_fini(&script);
  clm__str_fini(&output);
  clm__str_fini(&expected);
}

static void variables_are_expanded(void **state)
{
  static const struct {
    const char *text;
    const char *expected;
  } cases[] = {{"$(A)", "x y"},   {"a$(A)b$(B)", "ax yb"},
               {"$$(A)", "$(A)"}, {"$(C)", "$(C)"},
               {"$", "$"},        {"$$", "$"},
               {"$(", "$("},      {"$(A", "$(A"},
               {"$()", "$()"},    {"$(A)$(A)", "x yx y"},
               {"", ""},          {"$$$(A)", "$x y"}};
  clm__words env = {0};
  (void)state;
  assert_int_equal(clm__words_set_variable(&env, "A", "z"), CLM_OK);
  assert_int_equal(clm__words_set_variable(&env, "B", ""), CLM_OK);
  assert_int_equal(clm__words_set_variable(&env, "A", "x y"), CLM_OK);
  assert_int_equal(env.count, 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clm__str result = {0};
    assert_int_equal(clm__expand(cases[i].text, &env, &result), CLM_OK);
    assert_string_equal(clm__str_get(&result), cases[i].expected);
    clm__str_fini(&result);
  }
  clm__words_fini(&env);
}

static void buckets_become_paths(void **state)
{
  static const char *const cases[][2] = {{"gs://b/p/", "/gcs/b/p"},
                                         {"gs://b", "/gcs/b"},
                                         {"runs/x", "runs/x"},
                                         {"/", "/"},
                                         {"/nfs//", "/nfs"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clm__str result = {0};
    assert_int_equal(clm__expand_bucket(cases[i][0], &result), CLM_OK);
    assert_string_equal(clm__str_get(&result), cases[i][1]);
    clm__str_fini(&result);
  }
}

static void host_files_are_read(void **state)
{
  clm__hosts hosts;
  (void)state;
  assert_int_equal(
      clm__hosts_read("# two\n a slots=2\n\nb.example.org  slots=1 max_slots=4 # x\nc\n", "f",
                      &hosts),
      CLM_OK);
  assert_int_equal(hosts.count, 3);
  assert_string_equal(hosts.items[0].name, "a");
  assert_int_equal(hosts.items[0].slots, 2);
  assert_string_equal(hosts.items[1].name, "b.example.org");
  assert_int_equal(hosts.items[1].slots, 1);
  assert_int_equal(hosts.items[2].slots, 0);
  clm__hosts_fini(&hosts);
  assert_int_equal(clm__hosts_read("a slots=0\n", "f", &hosts), CLM_BAD_DATA);
  assert_int_equal(clm__hosts_read("a cpus=2\n", "f", &hosts), CLM_BAD_DATA);
  assert_int_equal(clm__hosts_read("-oProxyCommand=x\n", "f", &hosts), CLM_BAD_DATA);
  assert_int_equal(clm__hosts_parse("a,b:2", &hosts), CLM_OK);
  assert_int_equal(hosts.count, 2);
  assert_int_equal(hosts.items[1].slots, 2);
  clm__hosts_fini(&hosts);
  assert_int_equal(clm__hosts_parse("a,-b", &hosts), CLM_USAGE);
  assert_int_equal(clm__hosts_parse("a:x", &hosts), CLM_USAGE);
  assert_int_equal(clm__hosts_parse("", &hosts), CLM_USAGE);
}

static const char *find(void *user, const char *name)
{
  const char *const *pairs = user;
  for (; *pairs != NULL; pairs += 2)
    if (strcmp(pairs[0], name) == 0) return pairs[1];
  return NULL;
}

static void roles_follow_the_environment(void **state)
{
  static const struct {
    const char *env[5];
    clm_role role;
  } cases[] = {
      {{NULL}, CLM_ROLE_ALONE},
      {{"OMPI_COMM_WORLD_SIZE", "2", "CLUSTER_SPEC", "{}"}, CLM_ROLE_RANK},
      {{"PMIX_RANK", "0", "SLURM_JOB_ID", "7"}, CLM_ROLE_RANK},
      {{"K_MPI_JOB_ROLE", "launcher"}, CLM_ROLE_MPIJOB_LAUNCHER},
      {{"K_MPI_JOB_ROLE", "worker"}, CLM_ROLE_MPIJOB_WORKER},
      {{"K_MPI_JOB_ROLE", "other"}, CLM_ROLE_ALONE},
      {{"CLUSTER_SPEC", "{}", "TF_CONFIG", "{\"cluster\":{}}"}, CLM_ROLE_REPLICA},
      {{"TF_CONFIG", "{\"cluster\":{}}"}, CLM_ROLE_REPLICA},
      {{"TF_CONFIG", "{\"task\":{}}"}, CLM_ROLE_ALONE},
      {{"SLURM_JOB_ID", "7"}, CLM_ROLE_SLURM},
      {{"SLURM_JOB_ID", ""}, CLM_ROLE_ALONE},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *pairs[6] = {0};
    const char *reason = NULL;
    memcpy(pairs, cases[i].env, sizeof cases[i].env);
    assert_int_equal(clm__role_decide(find, pairs, &reason), cases[i].role);
    assert_non_null(reason);
  }
}

static void clusters_are_read(void **state)
{
  static const char vertex[] =
      "{\"cluster\": {\"workerpool1\": [\"w-0:2222\", \"w-1:2222\"], \"workerpool0\": "
      "[\"c-0:2222\"]}, \"task\": {\"type\": \"workerpool1\", \"index\": 1, \"trial\": \"t\"}, "
      "\"environment\": \"cloud\", \"job\": {}, \"open_ports\": [1]}";
  static const char tensorflow[] =
      "{\"cluster\": {\"worker\": [\"w\"], \"chief\": [\"c:1\"]}, \"task\": {\"type\": \"chief\", "
      "\"index\": \"0\"}}";
  static const char *const bad[] = {
      "{}",
      "[",
      "{\"cluster\": {}, \"task\": {\"type\": \"chief\", \"index\": 0}}",
      "{\"cluster\": {\"chief\": [\"c\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}",
      "{\"cluster\": {\"chief\": [3]}, \"task\": {\"type\": \"chief\", \"index\": 0}}",
      "{\"cluster\": {\"chief\": [\"c\"]}}"};
  clm__cluster cluster;
  (void)state;
  assert_int_equal(clm__cluster_read(vertex, "CLUSTER_SPEC", &cluster), CLM_OK);
  assert_int_equal(cluster.count, 3);
  assert_int_equal(cluster.own, 2);
  assert_int_equal(cluster.port, 2222);
  assert_string_equal(cluster.members[0].host, "c-0");
  assert_string_equal(cluster.members[2].host, "w-1");
  clm__cluster_fini(&cluster);
  assert_int_equal(clm__cluster_read(tensorflow, "TF_CONFIG", &cluster), CLM_OK);
  assert_int_equal(cluster.count, 2);
  assert_int_equal(cluster.own, 0);
  clm__cluster_fini(&cluster);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(clm__cluster_read(bad[i], "CLUSTER_SPEC", &cluster), CLM_BAD_DATA);
    assert_non_null(strstr(clm_error_last()->message, "CLUSTER_SPEC"));
  }
  assert_int_equal(
      clm__cluster_read("{\"cluster\": {\"chief\": [\"c\"], \"ps\": [\"p\"]}}", "x", &cluster),
      CLM_UNSUPPORTED);
}

static void check_line(const clm__mpirun *mpirun, const char *expected)
{
  clm__words words = {0};
  clm__str line = {0};
  assert_int_equal(clm__mpirun_words(mpirun, &words), CLM_OK);
  assert_int_equal(clm__shell_add_words(&line, &words), CLM_OK);
  assert_string_equal(clm__str_get(&line), expected);
  clm__words_fini(&words);
  clm__str_fini(&line);
}

static void mpirun_lines(void **state)
{
  static const char *const extra[] = {"--mca", "x", "1"};
  clm__words command = {0};
  clm__words env = {0};
  clm__words ssh = {0};
  clm__mpirun mpirun = {.path = "mpirun", .ranks = 2, .command = &command};
  (void)state;
  assert_int_equal(clm__words_add(&command, "prog"), CLM_OK);
  assert_int_equal(clm__words_add(&command, "a b"), CLM_OK);
  assert_int_equal(clm__words_add(&env, "X=1 2"), CLM_OK);
  assert_int_equal(clm__ssh_options(&(clm__ssh){.port = 2222}, &ssh), CLM_OK);
  mpirun.version.major = 4;
  mpirun.oversubscribe = true;
  check_line(&mpirun, "mpirun -np 2 --map-by slot --bind-to none --oversubscribe --mca pml ob1 "
                      "--mca btl self,vader,tcp prog 'a b'");
  mpirun.version.major = 5;
  mpirun.extra = extra;
  mpirun.extra_count = 3;
  check_line(&mpirun, "mpirun -np 2 --map-by slot:OVERSUBSCRIBE --bind-to none --mca pml ob1 "
                      "--mca btl self,sm,tcp --mca x 1 prog 'a b'");
  mpirun.extra_count = 0;
  mpirun.oversubscribe = false;
  mpirun.host_file = "h";
  mpirun.ssh = &ssh;
  mpirun.net = "eth0";
  mpirun.env = &env;
  check_line(
      &mpirun,
      "mpirun -np 2 --hostfile h --map-by slot --bind-to none --mca pml ob1 --mca btl "
      "self,sm,tcp --mca btl_tcp_if_include eth0 --prtemca prte_if_include eth0 --prtemca "
      "plm_ssh_no_tree_spawn 1 --prtemca plm_ssh_args '-p 2222 -o BatchMode=yes -o "
      "ConnectTimeout=5 -o ConnectionAttempts=10 -o ServerAliveInterval=15' -x X prog 'a b'");
  mpirun.version.major = 4;
  check_line(&mpirun,
             "mpirun -np 2 --hostfile h --map-by slot --bind-to none --mca pml ob1 --mca btl "
             "self,vader,tcp --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 --mca "
             "oob_tcp_keepalive_time 30 --mca oob_tcp_keepalive_intvl 10 --mca "
             "oob_tcp_keepalive_probes 3 --mca plm_rsh_no_tree_spawn 1 --mca plm_rsh_args '-p 2222 "
             "-o BatchMode=yes -o ConnectTimeout=5 -o ConnectionAttempts=10 -o "
             "ServerAliveInterval=15' -x X prog 'a b'");
  clm__words words = {0};
  assert_int_equal(clm__words_add(&ssh, "a b"), CLM_OK);
  assert_int_equal(clm__mpirun_words(&mpirun, &words), CLM_USAGE);
  clm__words_fini(&words);
  clm__words_fini(&command);
  clm__words_fini(&env);
  clm__words_fini(&ssh);
}

static void mpi_versions(void **state)
{
  clm__mpi_version version;
  (void)state;
  assert_int_equal(clm__mpirun_read_version("mpirun (Open MPI) 4.1.4\n\nReport bugs", &version),
                   CLM_OK);
  assert_int_equal(version.major * 100 + version.minor * 10 + version.release, 414);
  assert_int_equal(clm__mpirun_read_version("mpirun (Open MPI) 5.0.7rc1", &version), CLM_OK);
  assert_int_equal(version.major, 5);
  assert_int_equal(clm__mpirun_read_version("mpirun (Open MPI) 3.1.3\n", &version),
                   CLM_UNSUPPORTED);
  assert_int_equal(clm__mpirun_read_version("HYDRA build details:\n", &version), CLM_UNSUPPORTED);
  assert_int_equal(clm__mpirun_read_version("", &version), CLM_UNSUPPORTED);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shell_reads_words_back),
      cmocka_unit_test(variables_are_expanded),
      cmocka_unit_test(buckets_become_paths),
      cmocka_unit_test(host_files_are_read),
      cmocka_unit_test(roles_follow_the_environment),
      cmocka_unit_test(clusters_are_read),
      cmocka_unit_test(mpirun_lines),
      cmocka_unit_test(mpi_versions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
