#include "thread_link.h"

#include "comm/comm_private.h"
#include "sys/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct letter {
  struct letter *next;
  int from;
  int to;
  int tag;
  size_t size_bytes;
  unsigned char bytes[];
} letter;

struct post {
  pthread_mutex_t lock;
  letter *letters;        /* in the order of sending */
  clm__message_set *sets; /* all there are: a failed comm leaves its own to the network */
  uint64_t random;
  int broken_rank; /* -1: none yet */
};

struct clm__link {
  world *all;
  int rank;
};

struct clm__message_set {
  clm__message_set *next;
  struct post *post;
  int rank;
  clm__message *messages;
  size_t count;
  bool *is_missing;
};

static void *claim(size_t size_bytes)
{
  void *memory = calloc(1, size_bytes + 1);
  if (memory == NULL) exit(1);
  return memory;
}

static clm_status create_set(clm__link *link, const clm__message *messages, size_t count,
                             clm__message_set **set)
{
  clm__message_set *made = claim(sizeof *made);
  made->post = link->all->post;
  made->rank = link->rank;
  made->count = count;
  made->messages = claim(count * sizeof *messages);
  if (count > 0) memcpy(made->messages, messages, count * sizeof *messages);
  made->is_missing = claim(count);
  (void)pthread_mutex_lock(&made->post->lock);
  made->next = made->post->sets;
  made->post->sets = made;
  (void)pthread_mutex_unlock(&made->post->lock);
  *set = made;
  return CLM_OK;
}

static void free_set(clm__message_set *set)
{
  free(set->is_missing);
  free(set->messages);
  free(set);
}

static void destroy_set(clm__message_set *set)
{
  if (set == NULL) return;
  (void)pthread_mutex_lock(&set->post->lock);
  clm__message_set **at = &set->post->sets;
  while (*at != set) at = &(*at)->next;
  *at = set->next;
  (void)pthread_mutex_unlock(&set->post->lock);
  free_set(set);
}

static void post_letter(struct post *post, int from, const clm__message *message)
{
  letter *made = claim(sizeof *made + message->size_bytes);
  made->from = from;
  made->to = message->peer;
  made->tag = message->tag;
  made->size_bytes = message->size_bytes;
  memcpy(made->bytes, message->bytes, message->size_bytes);
  letter **end = &post->letters;
  while (*end != NULL) end = &(*end)->next;
  *end = made;
}

static clm_status start_set(clm__message_set *set)
{
  struct post *const post = set->post;
  (void)pthread_mutex_lock(&post->lock);
  for (size_t i = 0; i < set->count; i++) {
    set->is_missing[i] = true;
    if (!set->messages[i].is_receive) post_letter(post, set->rank, &set->messages[i]);
  }
  (void)pthread_mutex_unlock(&post->lock);
  return CLM_OK;
}

/* The first letter for a message, taken out of the post; NULL where there is none. */
static letter *take_letter(struct post *post, int to, const clm__message *message)
{
  for (letter **at = &post->letters; *at != NULL; at = &(*at)->next) {
    letter *const found = *at;
    if (found->to != to || found->from != message->peer || found->tag != message->tag) continue;
    *at = found->next;
    return found;
  }
  return NULL;
}

static bool flip_coin(struct post *post)
{
  post->random = post->random * UINT64_C(6364136223846793005) + 1;
  return (post->random >> 40 & 1) != 0;
}

static bool try_message(clm__message_set *set, const clm__message *message)
{
  struct post *const post = set->post;
  if (!flip_coin(post)) return false;
  if (!message->is_receive) return true;
  letter *const found = take_letter(post, set->rank, message);
  if (found == NULL) return false;
  memcpy(message->bytes, found->bytes, found->size_bytes);
  free(found);
  return true;
}

static clm_status test_set(clm__message_set *set, bool *moved, bool *done)
{
  struct post *const post = set->post;
  bool complete = true;
  (void)pthread_mutex_lock(&post->lock);
  const bool is_broken = post->broken_rank == set->rank;
  for (size_t i = 0; !is_broken && i < set->count; i++) {
    if (set->is_missing[i] && try_message(set, &set->messages[i])) {
      set->is_missing[i] = false;
      *moved = true;
    }
    complete = complete && !set->is_missing[i];
  }
  (void)pthread_mutex_unlock(&post->lock);
  CLM_REQUIRE(!is_broken, CLM_PEER_FAILED, "the cable is out");
  *done = complete;
  return CLM_OK;
}

static bool is_missing(const clm__message_set *set, size_t index) { return set->is_missing[index]; }

static void close_link(clm__link *link, bool is_clean)
{
  link->all->clean[link->rank] = is_clean;
  free(link);
}

typedef struct rank_thread {
  clm__thread thread;
  world *all;
  int rank;
  bool result;
} rank_thread;

static void *run_rank(void *argument)
{
  static const clm__link_ops ops = {create_set, destroy_set, start_set,
                                    test_set,   is_missing,  close_link};
  rank_thread *const self = argument;
  clm__link *link = claim(sizeof *link);
  *link = (clm__link){.all = self->all, .rank = self->rank};
  const clm__link_facts facts = {.rank = self->rank,
                                 .size = self->all->size,
                                 .local_rank = self->rank,
                                 .local_size = self->all->size,
                                 .tag_max = 1000};
  clm__comm *comm = NULL;
  if (clm__comm_open_link(NULL, link, &ops, &facts, &comm) != CLM_OK) return NULL;
  self->result = self->all->run(comm, self->all);
  clm__comm_close(comm);
  return NULL;
}

bool run_world(world *all)
{
  struct post post = {.lock = PTHREAD_MUTEX_INITIALIZER, .random = all->seed, .broken_rank = -1};
  rank_thread threads[WORLD_MAX] = {0};
  bool result = true;
  all->post = &post;
  for (int rank = 0; rank < all->size; rank++) {
    threads[rank].all = all;
    threads[rank].rank = rank;
    if (clm__thread_start(&threads[rank].thread, "rank", run_rank, &threads[rank]) != CLM_OK)
      exit(1);
  }
  for (int rank = 0; rank < all->size; rank++) {
    clm__thread_join(&threads[rank].thread);
    if (!threads[rank].result) printf("rank %d is not content\n", rank);
    result = result && threads[rank].result;
  }
  while (post.letters != NULL) {
    letter *const next = post.letters->next;
    free(post.letters);
    post.letters = next;
  }
  while (post.sets != NULL) {
    clm__message_set *const next = post.sets->next;
    free_set(post.sets);
    post.sets = next;
  }
  all->post = NULL;
  return result;
}

void break_network(world *all)
{
  (void)pthread_mutex_lock(&all->post->lock);
  all->post->broken_rank = all->broken_rank;
  (void)pthread_mutex_unlock(&all->post->lock);
}
