/* Which part a process plays, decided from the environment. */
#ifndef CLM_LAUNCH_ROLES_H
#define CLM_LAUNCH_ROLES_H

#include "clematis/launch.h"

/* The role for an environment given as a function; *reason gets the variable that decided. */
clm_role clm__role_decide(const char *(*get)(void *user, const char *name), void *user,
                          const char **reason);

#endif
