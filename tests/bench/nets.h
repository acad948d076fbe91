/* The networks that are measured; the same ones stand in engine_keras.py and engine_torch.py. */
#ifndef CLM_TESTS_BENCH_NETS_H
#define CLM_TESTS_BENCH_NETS_H

#include "graph/graph.h"

#define NET_CLASSES 5

/* The flowers network at 180x180, 3,989,285 parameters. */
CLM_MUST_CHECK clm_status net_flowers(clm__graph **graph);

/* A residual network at 64x64: a stem of 32 filters; blocks of 32, 64 and 128 filters, two 3x3
 * convolutions each with batch normalization and relu, in the last two stride 2 and a 1x1
 * projection; global average. 309,349 parameters. */
CLM_MUST_CHECK clm_status net_residual(clm__graph **graph);

/* By name: "flowers" or "residual". Errors: USAGE. */
CLM_MUST_CHECK clm_status net_create(const char *name, clm__graph **graph);

#endif
