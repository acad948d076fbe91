#define _GNU_SOURCE
#include "bench/late_wire.h"

#include "base/mem.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Packets come as the kernel has them, up to 64 kB, behind a header that goes with them. */
enum { PACKET_MAX = 66 * 1024, PACKETS_MAX = 2048, HEADER = 10, DESTINATION = HEADER + 19 };

typedef struct packet {
  double due;
  int host;
  size_t size_bytes;
  unsigned char bytes[PACKET_MAX];
} packet;

/* All are late by the same time, so the first to come is the first to go. */
typedef struct wire {
  struct pollfd hosts[LATE_HOSTS_MAX];
  int host_count;
  double delay;
  packet *packets; /* [PACKETS_MAX], a ring */
  size_t taken;    /* so many packets came so far, */
  size_t carried;  /* and so many of them went */
} wire;

static clm_status enter(const char *pid)
{
  char path[64];
  (void)snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
  const int space = open(path, O_RDONLY | O_CLOEXEC);
  const bool is_in = space >= 0 && setns(space, CLONE_NEWNET) == 0;
  if (space >= 0) (void)close(space);
  CLM_REQUIRE(is_in, CLM_UNSUPPORTED, "%s: %s", path, strerror(errno));
  return CLM_OK;
}

static clm_status open_device(struct pollfd *host)
{
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
  (void)snprintf(request.ifr_name, sizeof request.ifr_name, "late0");
  *host = (struct pollfd){.fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC),
                          .events = POLLIN};
  CLM_REQUIRE(host->fd >= 0 && ioctl(host->fd, TUNSETIFF, &request) == 0 &&
                  ioctl(host->fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) == 0,
              CLM_UNSUPPORTED, "/dev/net/tun: %s", strerror(errno));
  return CLM_OK;
}

/* Whether a packet came from that host. */
static bool take(wire *on, int from)
{
  if (on->taken - on->carried == PACKETS_MAX) return false;
  packet *next = &on->packets[on->taken % PACKETS_MAX];
  const ssize_t got = read(on->hosts[from].fd, next->bytes, sizeof next->bytes);
  if (got <= DESTINATION) return got > 0;
  next->size_bytes = (size_t)got;
  next->host = next->bytes[DESTINATION] - 1;
  next->due = clm__clock_seconds() + on->delay;
  if (next->host >= 0 && next->host < on->host_count) on->taken++;
  return true;
}

/* Carries what is due. What a host cannot take is lost, as on any network. */
static void carry(wire *on, double now)
{
  for (; on->carried < on->taken; on->carried++) {
    const packet *first = &on->packets[on->carried % PACKETS_MAX];
    if (first->due > now) return;
    if (write(on->hosts[first->host].fd, first->bytes, first->size_bytes) < 0) continue;
  }
}

static void await(wire *on)
{
  struct timespec pause = {.tv_sec = 1};
  if (on->carried < on->taken) {
    const double left = on->packets[on->carried % PACKETS_MAX].due - clm__clock_seconds();
    pause = (struct timespec){.tv_nsec = left > 0.0 ? (long)(1e9 * left) : 0};
  }
  (void)ppoll(on->hosts, (nfds_t)on->host_count, &pause, NULL);
}

/* Ahead of everything else that runs: a wire waits for no processor. */
static void hurry(void)
{
  const struct sched_param priority = {.sched_priority = 1};
  (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  (void)sched_setscheduler(0, SCHED_RR, &priority);
}

clm_status late_wire_run(int delay_us, const char *const *pids, int host_count)
{
  static wire on;
  on = (wire){.host_count = host_count, .delay = 1e-6 * delay_us};
  CLM_REQUIRE(host_count <= LATE_HOSTS_MAX, CLM_UNSUPPORTED, "more than %d hosts", LATE_HOSTS_MAX);
  CLM_TRY(clm__mem_alloc(PACKETS_MAX, sizeof *on.packets, &on.packets));
  for (int i = 0; i < host_count; i++) {
    CLM_TRY(enter(pids[i]));
    CLM_TRY(open_device(&on.hosts[i]));
  }
  hurry();
  for (;;) {
    await(&on);
    for (int i = 0; i < host_count; i++)
      for (int turn = 0; turn < 8 && take(&on, i); turn++) carry(&on, clm__clock_seconds());
    carry(&on, clm__clock_seconds());
  }
}
