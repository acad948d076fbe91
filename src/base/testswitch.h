/* Switches that make faults happen on purpose, for tests. Each is an environment variable, read
 * once; unset, it changes nothing. They are documented in docs/testing.md.
 *
 *   CLEMATIS_TEST_FAIL_ALLOC=N     the Nth host allocation fails (counted from 1)
 *   CLEMATIS_TEST_MAX_GROUP=N      no kernel is launched with more than N work-items a group
 *   CLEMATIS_TEST_MAX_BUFFER=BYTES the device claims this largest buffer
 *   CLEMATIS_TEST_MEMORY=BYTES     the device claims this much global memory
 *   CLEMATIS_TEST_FAIL_WRITE=N     the Nth write to a file fails as on a full disk
 *   CLEMATIS_TEST_FAIL_BUILD=NAME  building the program of op NAME fails
 *   CLEMATIS_TEST_NO_PLATFORM=1    no OpenCL platform is found
 *   CLEMATIS_TEST_NAN_STEP=N       the loss of training step N is not a number
 *   CLEMATIS_TEST_FAIL_LOAD=N      the batch of this rank's Nth training step cannot be loaded
 *   CLEMATIS_TEST_FAIL_DEVICE=N    the job's last replica fails in training step N of this run
 *   CLEMATIS_TEST_SLOW_DEVICE=N    that replica takes N times as long, as one of another kind
 *   CLEMATIS_TEST_NO_SHARED_MEMORY=1 the system shares no memory between processes
 *   CLEMATIS_TEST_BAD_GEMM=1       GEMM results are wrong
 *   CLEMATIS_TEST_TUNE_WRONG=NAME  the tuner's candidate NAME ("gemm", "cpu VT=2") is wrong
 *   CLEMATIS_TEST_TUNE_CRASH=NAME  it ends the process that tries it
 *   CLEMATIS_TEST_TUNE_HANG=NAME   it never ends
 */
#ifndef CLM_BASE_TESTSWITCH_H
#define CLM_BASE_TESTSWITCH_H

#include <stdbool.h>
#include <stdint.h>

/* The value of a numeric switch, or `otherwise` where it is unset or not a number. */
uint64_t clm__testswitch_number(const char *name, uint64_t otherwise);

/* Whether a switch has exactly this value. */
bool clm__testswitch_is(const char *name, const char *value);

#endif
