#include "bench/peers.h"

typedef struct engine {
  const char *name;
  int tasks;
} engine;

static const engine engines[] = {{"keras", PEER_STEP | PEER_INFER | PEER_DATA},
                                 {"torch", PEER_STEP | PEER_INFER},
                                 {"onnxruntime", PEER_INFER},
                                 {"openvino", PEER_INFER},
                                 {"pillow", PEER_DATA}};

#define ENGINE_COUNT (sizeof engines / sizeof *engines)

static clm_status open_engines(bench_peers *peers, const bench_run *bench, const char *python,
                               peer_task task)
{
  for (size_t i = 0; i < ENGINE_COUNT; i++) {
    bench_peer *peer = &peers->items[peers->count];
    if ((engines[i].tasks & (int)task) == 0) continue;
    const clm_status status = peer_open(peer, python, bench->scripts, engines[i].name);
    if (status == CLM_OK) {
      peers->count++;
      continue;
    }
    peer_close(peer);
    bench_note("%s does not take part: %s", engines[i].name, clm_error_last()->message);
    if (status != CLM_UNSUPPORTED) return status;
  }
  return CLM_OK;
}

clm_status peers_open(bench_peers *peers, const bench_run *bench, peer_task task)
{
  *peers = (bench_peers){0};
  for (size_t i = 0; i < bench->against_count; i++)
    CLM_TRY(open_engines(peers, bench, bench->against[i], task));
  return CLM_OK;
}

void peers_close(bench_peers *peers)
{
  while (peers->count > 0) peer_close(&peers->items[--peers->count]);
}
