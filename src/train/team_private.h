/* What the files of the team share. */
#ifndef CLM_TRAIN_TEAM_PRIVATE_H
#define CLM_TRAIN_TEAM_PRIVATE_H

#include "op/joint.h"
#include "sys/thread.h"
#include "train/team.h"

/* Replicas of one rank. */
#define CLM__TEAM_LOCAL_MAX 16

typedef struct team_member team_member;

/* What a member does on its thread. */
typedef clm_status (*team_work)(clm__team *team, team_member *member);

/* One replica of this rank. */
struct team_member {
  clm__team *team;
  int index;          /* among those of this rank; the first one lives on the caller's thread */
  clm__thread thread; /* of the others */
  clm__device *device;
  clm__replica *replica;
  clm__gradient_part *places; /* [part_count] */
  float *gradients;           /* what they point to; the first member's are the sums themselves */
  bool lends;                 /* the device computes them there, all but the last part */
  int batch_max;

  /* The call in flight. */
  clm__replica_input input;
  clm__replica_result figures;
  bool has_failed;   /* before its last gradient */
  clm_error failure; /* status CLM_OK where there was none */
  double begin_seconds;
  int lane; /* of the trace */
  int parts_brought;
  int joints_met;
  const float *figures_brought; /* to the joint in progress; NULL without images */
  double joint_seconds;         /* waiting in the joints of this step */
  bool gave_up;                 /* in a joint, as a replica of the job had failed before it */

  /* Since the team was created: */
  double busy_seconds; /* from the start of a step to its last gradient */
  uint64_t images;     /* of these steps */
  /* Since shares were last looked at, and since moving averages were last settled: */
  double lately_seconds;
  uint64_t lately_images;
  uint64_t unsettled_images;
};

/* Sums over the replicas of the job that ride behind the last part, each exact where it is a
 * count. */
enum {
  FIGURE_COUNT_LOW,
  FIGURE_COUNT_HIGH,
  FIGURE_HITS_LOW,
  FIGURE_HITS_HIGH,
  FIGURE_LOSS_HIGH,
  FIGURE_LOSS_LOW,
  FIGURE_NOT_FINITE,
  FIGURE_STOP,
  FIGURE_SAVE,
  FIGURE_FAILURE,
  FIGURE_COUNT
};

typedef enum part_state {
  PART_COMING,  /* some replica of this rank is still busy with it */
  PART_SUMMING, /* it is on its way between the ranks */
  PART_DONE
} part_state;

typedef struct team_part {
  float *sum; /* [count], of the last one [count + FIGURE_COUNT] */
  size_t count;
  clm__bucket *bucket;
  int arrived; /* replicas of this rank */
  part_state state;
  char name[24]; /* in a trace */
} team_part;

/* Where all replicas of the job meet in the middle of a step. */
typedef struct team_joint {
  clm__joint_kind kind;
  size_t channels;
  float *slots;        /* [ranks,slot_floats] what each rank brings; all but the own one are 0 */
  clm__bucket *bucket; /* of the slots: their sum is what everybody brought */
  float *figures;      /* [2,channels] of all replicas */
} team_joint;

struct clm__team {
  clm__team_config config;
  clm__comm *comm;
  const clm__weights *layout;
  int size;  /* replicas of the job */
  int first; /* the place of this rank's first one among them */
  team_member *members;
  int member_count;

  int *rank_counts; /* [ranks] replicas of each rank */
  void *gathered;   /* [ranks] of CLM__COMM_GATHER_MAX bytes, scratch */
  bool is_mixed;    /* the devices are of different kinds */

  double *shares;     /* [size] */
  double *new_shares; /* [size] scratch */
  double *speeds;     /* [size] images/s as last measured, 0: not yet */
  int *rooms;         /* [size] most images of each replica */
  bool is_measured;
  uint64_t steps;
  uint64_t next_look; /* the step after which shares are looked at */

  /* Gradients in parts, the last layer's first. */
  team_part *parts;
  int part_count;
  clm__window *window; /* of the sums */
  clm__bucket *figures_bucket; /* of clm__team_sum */
  float figures[FIGURE_COUNT];

  /* Statistics over all replicas. */
  team_joint *joints; /* in the order of a step */
  int joint_count;
  double *joint_scratch; /* figures of the widest one */

  /* Moving averages. */
  float *values;   /* [layout->elements], scratch */
  float *averages; /* [untrained elements] */
  clm__bucket *averages_bucket;
  bool is_settled;
  uint64_t unsettled_images; /* of the job */

  /* The threads of the members. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool has_lock;
  team_work work;
  uint64_t ticket; /* counts pieces of work */
  int busy;
  bool quits;

  /* The step in flight. */
  const clm__team_input *input;
  clm__team_result total;
  bool has_failed; /* somewhere in the job */
  bool updates;
  int joints_done;
  int joint_arrived;      /* replicas of this rank, at the joint in progress */
  uint64_t joint_images;  /* of the job, in this step */
  bool is_void;           /* known in a joint: a replica of the job has failed, or the network */
  clm_error link_failure; /* status CLM_OK where there was none */
  clm_error pending;      /* a failure behind the last sum of a step: told at the next meeting */

  uint64_t timed_steps;   /* all but the first one, which makes drivers compile */
  double step_seconds;    /* of these */
  double exposed_seconds; /* of them: waiting for other ranks after the own backward */
  uint64_t failing_step;  /* a test wants the job's last replica to fail there; 0: never */
  double slowness;        /* a test wants that replica to take so many times as long; 0: as it is */
};

/* Where count things fall by shares: [0, bound) to the replicas before `place`. */
size_t clm__team_bound(const double *shares, int size, int place, size_t count);

/* Deals `count` images of this rank to its members. */
void clm__team_deal(const clm__team *team, size_t count, int *counts /* [member_count] */);

/* Runs work on all members, each on its thread; their failures are in the members then. */
void clm__team_run(clm__team *team, team_work work);
/* Raises the first member's failure, CLM_OK where there is none. */
CLM_MUST_CHECK clm_status clm__team_check_members(const clm__team *team);
CLM_MUST_CHECK clm_status clm__team_start_threads(clm__team *team);
void clm__team_stop_threads(clm__team *team);

/* Cuts the gradients of all members into parts. */
CLM_MUST_CHECK clm_status clm__team_cut_parts(clm__team *team);
/* Makes the memory for the sums. Collective; fails on all ranks or on none. */
CLM_MUST_CHECK clm_status clm__team_open_window(clm__team *team);
/* Lays out the parts and registers their buckets. */
CLM_MUST_CHECK clm_status clm__team_make_parts(clm__team *team);
void clm__team_free_parts(clm__team *team);

/* Adds one replica's part to the sum of this rank; the last replica to come starts the bucket. */
void clm__team_arrive(clm__team *team, int part);

/* Lays out the joints of the first replica, which has been made, and registers their buckets. */
CLM_MUST_CHECK clm_status clm__team_make_joints(clm__team *team);
void clm__team_free_joints(clm__team *team);

/* Brings a replica's figures to a joint and waits for those of all: on_joint of a replica, whose
 * user is the member. Errors: PEER_FAILED, and the member gave up, where the step is void. */
CLM_MUST_CHECK clm_status clm__team_join(void *user, int joint, const float *own,
                                         clm__joined *joined);

/* Goes to the next joint, if there is one, to say that this replica has failed. */
void clm__team_fail_joint(clm__team *team, team_member *member);

/* Brings the parts that have come, all but the last one, as long as the replica computes. */
CLM_MUST_CHECK clm_status clm__team_bring_ready(clm__team *team, team_member *member);

/* Fails where a test wants this replica to. */
CLM_MUST_CHECK clm_status clm__team_fail_on_request(const clm__team *team,
                                                    const team_member *member);

/* Whether the sums over the ranks have failed in this step. */
bool clm__team_has_link_failed(clm__team *team);

/* Counts to two floats whose sums over up to 4096 ranks are exact, and back. */
void clm__team_encode_count(uint64_t count, float *low, float *high);
uint64_t clm__team_decode_count(float low, float high);

/* Figures to floats that are exact in sums, and back. */
void clm__team_encode(const clm__team_result *result, float *figures);
void clm__team_decode(const float *figures, clm__team_result *result);

/* A step of several replicas. */
CLM_MUST_CHECK clm_status clm__team_step(clm__team *team, const clm__team_input *input,
                                         clm__team_result *result);

/* Tells a failure that came too late for its step. Collective. */
CLM_MUST_CHECK clm_status clm__team_tell_pending(clm__team *team);

/* Looks at what the replicas reach and deals anew where it pays. Collective. */
CLM_MUST_CHECK clm_status clm__team_look_at_shares(clm__team *team, bool *changed);

#endif
