#include "exec/choice.h"

#include <stdio.h>
#include <string.h>

/* One word of a wish, cut into its parts. Empty parts are "". */
typedef struct wish_word {
  char op[CLM__CHOICE_NAME_SIZE];
  char pass[CLM__CHOICE_NAME_SIZE];
  char variant[CLM__CHOICE_NAME_SIZE];
} wish_word;

static void copy_part(char part[CLM__CHOICE_NAME_SIZE], const char *begin, size_t length)
{
  (void)snprintf(part, CLM__CHOICE_NAME_SIZE, "%.*s", (int)length, begin);
}

/* Cuts the word at *wish and moves *wish behind it; false at the end. */
static bool next_word(const char **wish, wish_word *word)
{
  if (*wish == NULL || **wish == '\0') return false;
  const size_t length = strcspn(*wish, ",");
  const char *begin = *wish;
  const char *equals = memchr(begin, '=', length);
  *word = (wish_word){0};
  if (equals == NULL) {
    copy_part(word->variant, begin, length);
  } else {
    const size_t left = (size_t)(equals - begin);
    const char *dot = memchr(begin, '.', left);
    copy_part(word->op, begin, dot != NULL ? (size_t)(dot - begin) : left);
    if (dot != NULL) copy_part(word->pass, dot + 1, (size_t)(equals - dot) - 1);
    copy_part(word->variant, equals + 1, length - left - 1);
  }
  *wish += length + (begin[length] == ',');
  return true;
}

static bool op_has_variant(const clm__op *op, const char *name)
{
  for (const clm__variant *const *variant = op->variants; variant != NULL && *variant != NULL;
       variant++)
    if (strcmp((*variant)->name, name) == 0) return true;
  return false;
}

static bool any_op_has_variant(const char *name)
{
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++)
    if (op_has_variant(*op, name)) return true;
  return false;
}

static bool is_pass_name(const char *name)
{
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
    if (strcmp(clm__pass_name((clm__pass)pass), name) == 0) return true;
  return false;
}

static clm_status check_word(const wish_word *word)
{
  if (word->op[0] == '\0') {
    CLM_REQUIRE(any_op_has_variant(word->variant), CLM_USAGE,
                "no op has a variant named '%s' (plain, cpu, gpu and gemm are usual)",
                word->variant);
    return CLM_OK;
  }
  const clm__op *op = NULL;
  CLM_REQUIRE(clm__registry_find_op(word->op, &op) == CLM_OK, CLM_USAGE,
              "--variant names '%s', which is no op", word->op);
  CLM_REQUIRE(word->pass[0] == '\0' || is_pass_name(word->pass), CLM_USAGE,
              "--variant names pass '%s' of %s: passes are fwd, bwd_x and bwd_w", word->pass,
              word->op);
  CLM_REQUIRE(op_has_variant(op, word->variant), CLM_USAGE, "op %s has no variant named '%s'",
              word->op, word->variant);
  return CLM_OK;
}

clm_status clm__choice_check(const char *wish)
{
  wish_word word;
  while (next_word(&wish, &word)) CLM_TRY(check_word(&word));
  return CLM_OK;
}

static bool has_usable(const clm__problem *problem, clm__pass pass, const clm__device_info *info,
                       const char *name)
{
  for (const clm__variant *const *variant = problem->op->variants;
       variant != NULL && *variant != NULL; variant++)
    if (strcmp((*variant)->name, name) == 0 &&
        clm__variant_is_usable(*variant, problem, pass, info))
      return true;
  return false;
}

const char *clm__choice_find(const char *wish, const clm__problem *problem, clm__pass pass,
                             const clm__device_info *info, char name[CLM__CHOICE_NAME_SIZE])
{
  const char *found = NULL;
  wish_word word;
  while (next_word(&wish, &word)) {
    const bool is_bare = word.op[0] == '\0';
    if (is_bare && !has_usable(problem, pass, info, word.variant)) continue;
    if (!is_bare && strcmp(word.op, problem->op->name) != 0) continue;
    if (word.pass[0] != '\0' && strcmp(word.pass, clm__pass_name(pass)) != 0) continue;
    copy_part(name, word.variant, strlen(word.variant));
    found = name;
  }
  return found;
}

static bool names_op(const char *wish, const char *op)
{
  wish_word word;
  while (next_word(&wish, &word))
    if (strcmp(word.op, op) == 0) return true;
  return false;
}

bool clm__choice_accepts_fusion(const char *wish, const clm__problem *problem,
                                const clm__device_info *info)
{
  if (names_op(wish, problem->op->name)) return true;
  char name[CLM__CHOICE_NAME_SIZE];
  if (clm__choice_find(wish, problem, CLM__FORWARD, info, name) != NULL)
    return strcmp(name, "plain") != 0;
  for (const clm__variant *const *variant = problem->op->variants;
       variant != NULL && *variant != NULL; variant++)
    if (clm__variant_is_offered(*variant, problem, CLM__FORWARD, info))
      return strcmp((*variant)->name, "plain") != 0;
  return false;
}
