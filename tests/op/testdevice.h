/* The device that the tests of ops, losses and optimizers run on, and what they share. */
#ifndef CLM_TESTS_OP_TESTDEVICE_H
#define CLM_TESTS_OP_TESTDEVICE_H

#include "dev/device.h"
#include "op/asserts.h"

/* What a test program was called with. */
typedef struct test_options {
  const char *device; /* --device NAME, else CLEMATIS_TEST_DEVICE; NULL: the first one chosen */
  bool tiny;          /* --tiny: cases marked tiny alone, in groups of the device's choice */
} test_options;

/* Reads the arguments; anything else ends the program with a message and status 64. */
test_options test_options_read(int argc, char **argv);

/* Opens the device, groups limited to group_max work-items (0: no limit). Prints the reason and
 * ends the program with status 77 where there is none. */
clm__device *test_device_open(const test_options *options, int group_max);

/* Number i of a fixed sequence of its own for each `stream`, in [least, most). */
float test_random(uint32_t stream, size_t i, double least, double most);

#endif
