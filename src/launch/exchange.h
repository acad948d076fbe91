/* How replicas that share nothing but a folder come to trust each other: every replica publishes
 * the public half of its ssh server's key, the chief that of its client's. Private halves never
 * leave their machine. */
#ifndef CLM_LAUNCH_EXCHANGE_H
#define CLM_LAUNCH_EXCHANGE_H

#include "launch/ssh.h"

/* A replica as it published itself. */
typedef struct clm__published {
  char *host_key; /* "ssh-ed25519 AAAA..." */
  int slots;
} clm__published;

/* Writes FOLDER/host.POOL-INDEX. Errors: NO_INPUT (no key file), IO. */
CLM_MUST_CHECK clm_status clm__exchange_publish(const char *folder, const char *member,
                                                const char *public_key_file, int slots);

/* Reads what a member published. Errors: NO_INPUT (not yet there), BAD_DATA. */
CLM_MUST_CHECK clm_status clm__exchange_read(const char *folder, const char *member,
                                             clm__published *published);
void clm__published_fini(clm__published *published);

/* Copies a public key to FOLDER/chief.pub. Errors: NO_INPUT, IO. */
CLM_MUST_CHECK clm_status clm__exchange_publish_chief(const char *folder,
                                                      const char *public_key_file);

/* Takes FOLDER/chief.pub over as the only authorized key where it differs from what is in the file;
 * *is_there gets whether there is one. Errors: BAD_DATA, IO. */
CLM_MUST_CHECK clm_status clm__exchange_take_chief(const char *folder, const char *authorized_keys,
                                                   bool *is_there);

/* Adds a line of a known_hosts file. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__exchange_add_known(const char *host, int port, const char *host_key,
                                                  clm__str *text);

#endif
