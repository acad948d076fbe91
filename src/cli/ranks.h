/* The program as one rank of a job: every mistake is told once, by the rank that speaks for all. */
#ifndef CLM_CLI_RANKS_H
#define CLM_CLI_RANKS_H

#include "clematis/clematis.h"

/* Joins the job that mpirun or srun started this process for. Errors are said. */
clm_status clm__ranks_join(clm_job **job);

/* Ends a step of the program on all ranks alike, with the error that clm__say_error kept. Alone
 * nothing is kept, and `mine` comes back. Collective. */
clm_status clm__ranks_agree(clm_job *job, clm_status mine);

/* Says a library error that all ranks have, once. */
clm_status clm__ranks_say(const clm_job *job, clm_status status);

#endif
