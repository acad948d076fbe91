/* Other frameworks, each in a Python process that stays warm (peer.py). */
#ifndef CLM_TESTS_BENCH_PEER_H
#define CLM_TESTS_BENCH_PEER_H

#include "base/error.h"
#include "bench/samples.h"

#include <stdio.h>
#include <sys/types.h>

typedef struct bench_peer {
  const char *engine; /* "keras" */
  char name[96];      /* "TensorFlow 2.21.0, Keras 3.15.1" */
  pid_t process;
  FILE *to;
  FILE *from;
} bench_peer;

/* Starts PYTHON scripts/peer.py ENGINE. Errors: UNSUPPORTED (the engine cannot be imported there:
 * why), IO. The struct is valid for peer_close also on failure. */
CLM_MUST_CHECK clm_status peer_open(bench_peer *peer, const char *python, const char *scripts,
                                    const char *engine);
void peer_close(bench_peer *peer);

/* Measures a task ("step\tflowers\t32\tFILE"): times[repeats]. Errors: IO, with the peer's
 * reason. */
CLM_MUST_CHECK clm_status peer_measure(const bench_peer *peer, const char *task, int repeats,
                                       samples_time *times);

#endif
