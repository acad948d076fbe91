#include "train/share_plan.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MAX 1000000000000000.0

/* ---- reading ---- */

/* "1,3" up to `end` into shares[count]. */
static clm_status read_set(const char *text, const char *end, int count, double *shares)
{
  const char *at = text;
  for (int i = 0; i < count; i++) {
    char *after = NULL;
    shares[i] = strtod(at, &after);
    const bool is_share = after != at && isfinite(shares[i]) && shares[i] > 0.0 && shares[i] <= 1e6;
    CLM_REQUIRE(is_share && (*after == ',' || after == end), CLM_USAGE,
                "the shares \"%.*s\" are not numbers above 0 with commas between them",
                (int)(end - text), text);
    CLM_REQUIRE(after == end || count > 1, CLM_USAGE,
                "the shares \"%.*s\" are those of several devices, and this job has one: --devices "
                "chooses more",
                (int)(end - text), text);
    CLM_REQUIRE((after == end) == (i == count - 1), CLM_USAGE,
                "the shares \"%.*s\" are not one number for each of the %d devices of the job",
                (int)(end - text), text, count);
    at = after + 1;
  }
  return CLM_OK;
}

/* "13:" before a set; without it the set begins with the run. */
static clm_status read_step(const char **text, const char *end, uint64_t *step)
{
  const char *colon = memchr(*text, ':', (size_t)(end - *text));
  *step = 1;
  if (colon == NULL) return CLM_OK;
  char *after = NULL;
  const double number = strtod(*text, &after);
  CLM_REQUIRE(after == colon && number >= 1.0 && number <= STEP_MAX && number == floor(number),
              CLM_USAGE, "the shares \"%.*s\" do not begin with the number of a step",
              (int)(end - *text), *text);
  *step = (uint64_t)number;
  *text = colon + 1;
  return CLM_OK;
}

static size_t count_sets(const char *text)
{
  size_t count = 1;
  for (const char *at = text; *at != '\0'; at++) count += *at == ';';
  return count;
}

static clm_status read_all(const char *text, clm__share_plan *plan)
{
  const size_t count = count_sets(text);
  const size_t replicas = (size_t)plan->replicas;
  CLM_TRY(clm__mem_alloc(count, sizeof *plan->steps, &plan->steps));
  CLM_TRY(clm__mem_alloc(count * replicas, sizeof *plan->shares, &plan->shares));
  for (; plan->count < count; plan->count++) {
    uint64_t *step = &plan->steps[plan->count];
    const char *end = text + strcspn(text, ";");
    CLM_TRY(read_step(&text, end, step));
    CLM_REQUIRE(plan->count == 0 || step[0] > step[-1], CLM_USAGE,
                "the shares \"%.*s\" do not begin behind those before them", (int)(end - text),
                text);
    CLM_TRY(read_set(text, end, plan->replicas, plan->shares + plan->count * replicas));
    text = end + 1;
  }
  return CLM_OK;
}

clm_status clm__share_plan_read(const char *text, int replicas, clm__share_plan *plan)
{
  clm__share_plan read = {.replicas = replicas};
  const clm_status status = read_all(text, &read);
  if (status != CLM_OK) {
    clm__share_plan_fini(&read);
    return status;
  }
  *plan = read;
  return CLM_OK;
}

void clm__share_plan_fini(clm__share_plan *plan)
{
  clm__mem_free(plan->steps);
  clm__mem_free(plan->shares);
  *plan = (clm__share_plan){0};
}

size_t clm__share_plan_find(const clm__share_plan *plan, uint64_t step)
{
  size_t found = 0;
  while (found + 1 < plan->count && plan->steps[found + 1] <= step) found++;
  return found;
}

/* ---- writing ---- */

/* The last set of text[length], behind its semicolon. */
static const char *find_last(const char *text, size_t length)
{
  while (length > 0 && text[length - 1] != ';') length--;
  return text + length;
}

static size_t count_commas(const char *text, const char *end)
{
  size_t count = 0;
  for (; text < end; text++) count += *text == ',';
  return count;
}

static bool is_behind(const char *set, const char *end, uint64_t step)
{
  return memchr(set, ':', (size_t)(end - set)) == NULL ? step <= 1
                                                       : strtoull(set, NULL, 10) >= step;
}

/* What is kept of a plan: the bytes before shares from `step` on. */
static size_t find_kept(const char *text, uint64_t step, const char *shares)
{
  size_t length = strlen(text);
  while (length > 0) {
    const char *end = text + length;
    const char *set = find_last(text, length);
    if (count_commas(set, end) != count_commas(shares, shares + strlen(shares))) return 0;
    if (!is_behind(set, end, step)) return length;
    length = set > text ? (size_t)(set - text) - 1 : 0;
  }
  return 0;
}

static bool ends_with(const char *text, size_t length, const char *shares)
{
  const char *set = find_last(text, length);
  const size_t left = length - (size_t)(set - text);
  const char *colon = memchr(set, ':', left);
  const char *last = colon != NULL ? colon + 1 : set;
  const size_t size = length - (size_t)(last - text);
  return size == strlen(shares) && memcmp(last, shares, size) == 0;
}

clm_status clm__share_plan_extend(const char *before, uint64_t step, const char *shares,
                                  char **after)
{
  clm__str text = {0};
  const size_t kept = before != NULL ? find_kept(before, step, shares) : 0;
  clm_status status = CLM_OK;
  if (kept > 0) status = clm__str_add_bytes(&text, before, kept);
  if (status == CLM_OK && !(kept > 0 && ends_with(before, kept, shares))) {
    status = clm__str_add(&text, "%s", kept > 0 ? ";" : "");
    if (status == CLM_OK && step > 1)
      status = clm__str_add(&text, "%llu:", (unsigned long long)step);
    if (status == CLM_OK) status = clm__str_add(&text, "%s", shares);
  }
  if (status == CLM_OK) status = clm__str_take(&text, after);
  clm__str_fini(&text);
  return status;
}
