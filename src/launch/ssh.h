/* ssh: its options, the hosts it reaches, waiting for them. */
#ifndef CLM_LAUNCH_SSH_H
#define CLM_LAUNCH_SSH_H

#include "launch/words.h"

#include "clematis/log.h"

/* How hosts are reached. Zeroed: as the user's own ssh configuration says. */
typedef struct clm__ssh {
  int port;                /* 0: ssh's own */
  const char *key;         /* private key file; NULL: ssh's own */
  const char *known_hosts; /* the only file of host keys that counts, and no configuration file is
                              read; NULL: as the user's configuration says */
} clm__ssh;

/* Adds the options of ssh, without its name. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__ssh_options(const clm__ssh *ssh, clm__words *words);

/* A host of a host file; slots 0: not said. */
typedef struct clm__host {
  char *name;
  int slots;
} clm__host;

typedef struct clm__hosts {
  clm__host *items;
  size_t count;
} clm__hosts;

/* Reads the text of a host file: "HOST [slots=N]" a line, # begins a comment. A text without hosts
 * is fine. Errors: BAD_DATA. */
CLM_MUST_CHECK clm_status clm__hosts_read(const char *text, const char *what, clm__hosts *hosts);

/* Reads "a,b:2". Errors: USAGE. */
CLM_MUST_CHECK clm_status clm__hosts_parse(const char *text, clm__hosts *hosts);
void clm__hosts_fini(clm__hosts *hosts);

/* Whether a name means this machine. */
bool clm__hosts_is_here(const char *name);

/* How hosts are waited for. */
typedef struct clm__hosts_call {
  const clm__words *options;      /* of ssh */
  double seconds;                 /* in all */
  clm_status (*look)(void *user); /* every few seconds meanwhile, NULL: nothing; what fails there
                                     ends the waiting */
  void *user;
  const clm_log *log;
} clm__hosts_call;

/* Waits until every host answers `ssh HOST true`. Errors: PEER_FAILED (one does not in time, with
 * ssh's reason), STOPPED (a stop was asked for; signals must be held), NO_INPUT (no ssh). */
CLM_MUST_CHECK clm_status clm__hosts_wait(const clm__hosts *hosts, const clm__hosts_call *call);

/* Of what ssh printed, the reason why it ended: the last line; warnings may stand before it.
 * Borrowed from output, whose end is cut. */
const char *clm__ssh_reason(clm__str *output);

/* Adds {"ssh", options..., host, "command quoted for the far shell"}. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__ssh_command(const clm__words *options, const char *host,
                                           const clm__words *command, clm__words *words);

#endif
