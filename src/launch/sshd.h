/* An ssh server of our own that only lets mpirun in: a key, no password, one user. */
#ifndef CLM_LAUNCH_SSHD_H
#define CLM_LAUNCH_SSHD_H

#include "launch/words.h"

/* Files of a server, all in one private folder. */
typedef struct clm__sshd {
  char *folder;
  char *host_key;
  char *authorized_keys;
  char *config;
  int port;
} clm__sshd;

/* Makes the private folder and decides the names in it. Errors: IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__sshd_init(clm__sshd *sshd, int port);

/* Makes a key pair without a password: `path` and path.pub. Errors: NO_INPUT (no ssh-keygen), IO.
 */
CLM_MUST_CHECK clm_status clm__sshd_make_key(const char *path, const char *comment);

/* Copies a private key, so that only we can read the copy. Errors: NO_INPUT, IO. */
CLM_MUST_CHECK clm_status clm__sshd_copy_key(const char *from, const char *to);

/* The text of the configuration. Logins get the environment of this process, which they would not
 * have otherwise. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__sshd_add_config(const clm__sshd *sshd, char *const *environment,
                                               clm__str *text);

/* Serves until SIGTERM or SIGINT, which must be held. Every two seconds `watch` is called, which
 * may be NULL. Errors: NO_INPUT (no sshd), IO (it ended by itself), and those of `watch`. */
CLM_MUST_CHECK clm_status clm__sshd_serve(const clm__sshd *sshd, clm_status (*watch)(void *user),
                                          void *user);

/* Removes the files and the folder. */
void clm__sshd_fini(clm__sshd *sshd);

#endif
