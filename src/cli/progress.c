#include "cli/progress.h"

#include "cli/format.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/train_events.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define BAR_CELLS 20
#define REDRAW_SECONDS 0.05
#define LINE_SECONDS 10.0
#define EVENT_SECONDS 1.0

static double now(void)
{
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

clm__progress_kind clm__progress_settle(clm__progress_kind kind)
{
  if (kind != CLM__PROGRESS_AUTO) return kind;
  return clm__terminal_is_live() ? CLM__PROGRESS_BAR : CLM__PROGRESS_LINES;
}

clm__progress clm__progress_begin(clm__progress_kind kind)
{
  return (clm__progress){
      .kind = clm__progress_settle(kind),
      .has_colour = clm__terminal_has_colour(),
      .is_ascii = clm__terminal_is_ascii(),
      .said_seconds = now(),
  };
}

/* Whether it is time to say something again; remembers that it was said. */
static bool is_due(clm__progress *progress, double interval_seconds)
{
  const double time = now();
  if (time - progress->said_seconds < interval_seconds) return false;
  progress->said_seconds = time;
  return true;
}

/* Adds " - name: value" where there is a value. */
static void add_figure(clm__text *text, const char *name, double value)
{
  char digits[CLM__FORMAT_SIZE];
  if (isnan(value)) return;
  clm__text_add(text, " - %s: %s", name, clm__format_figure(value, digits));
}

/* In the order of Keras' bar. */
static void add_figures(clm__text *text, const clm_figures *figures, bool has_validation)
{
  add_figure(text, "accuracy", figures->accuracy);
  add_figure(text, "loss", figures->loss);
  if (!has_validation) return;
  add_figure(text, "val_accuracy", figures->val_accuracy);
  add_figure(text, "val_loss", figures->val_loss);
}

static void add_cells(const clm__progress *progress, clm__text *text, int done, int cells)
{
  const char *full = progress->is_ascii ? "=" : "\u2501";
  const char *empty = progress->is_ascii ? "." : "\u2501";
  const bool colour = progress->has_colour;
  clm__text_add(text, "%s", colour && done > 0 ? "\033[32m" : "");
  for (int i = 0; i < done; i++) clm__text_add(text, "%s", full);
  clm__text_add(text, "%s", colour ? done > 0 ? "\033[0m\033[37m" : "\033[37m" : "");
  for (int i = done; i < cells; i++) clm__text_add(text, "%s", colour ? full : empty);
  clm__text_add(text, "%s", colour ? "\033[0m" : "");
}

/* A bar of `cells`; without colours and with an ASCII set the rest is dots. */
static void add_bar(const clm__progress *progress, clm__text *text, size_t step, size_t steps,
                    int cells)
{
  const char *bold = progress->has_colour ? "\033[1m" : "";
  const char *plain = progress->has_colour ? "\033[0m" : "";
  char digits[CLM__FORMAT_SIZE];
  const int width = snprintf(digits, sizeof digits, "%zu", steps);
  clm__text_add(text, "%s%*zu/%zu%s ", bold, width, step, steps, plain);
  if (cells == 0 || steps == 0) return;
  const int done = (int)((double)step / (double)steps * cells);
  add_cells(progress, text, done, cells);
  clm__text_add(text, " ");
}

/* Columns left for bar and figures behind "step/steps ". */
static int room_behind_counter(size_t steps)
{
  char digits[CLM__FORMAT_SIZE];
  const int counter = 2 * snprintf(digits, sizeof digits, "%zu", steps) + 2;
  const int room = clm__terminal_columns() - 1 - counter;
  return room > 0 ? room : 0;
}

/* As many cells as leave the line on one line of the terminal. */
static int cells_that_fit(size_t steps, const clm__text *rest)
{
  const int cells = room_behind_counter(steps) - 1 - (int)rest->length;
  if (cells >= BAR_CELLS) return BAR_CELLS;
  return cells >= 5 ? cells : 0;
}

/* Draws the bar with `rest` behind it, cut where the terminal is too narrow even without a bar. */
static void draw(const clm__progress *progress, size_t step, size_t steps, const clm__text *rest)
{
  clm__text line = {0};
  add_bar(progress, &line, step, steps, cells_that_fit(steps, rest));
  clm__text_add(&line, "%.*s", room_behind_counter(steps), clm__text_get(rest));
  clm__say_live(clm__text_get(&line));
  clm__text_fini(&line);
}

/* The first step of an epoch counts only while there is no other. */
static double seconds_a_step(const clm__progress *progress, const clm_step_info *info)
{
  const clm_step_info *first = &progress->first;
  if (info->step > first->step)
    return (info->seconds - first->seconds) / (double)(info->step - first->step);
  return info->seconds;
}

static double seconds_left(const clm__progress *progress, const clm_step_info *info)
{
  return seconds_a_step(progress, info) * (double)(info->steps_per_epoch - info->step);
}

static void draw_step(const clm__progress *progress, const clm_step_info *info)
{
  char eta[CLM__FORMAT_SIZE];
  char pace[CLM__FORMAT_SIZE];
  clm__text rest = {0};
  clm__text_add(&rest, "%s %s", clm__format_seconds(seconds_left(progress, info), eta),
                clm__format_step_time(seconds_a_step(progress, info), pace));
  add_figures(&rest, &info->figures, false);
  draw(progress, info->step, info->steps_per_epoch, &rest);
  clm__text_fini(&rest);
}

static void print_step(const clm__progress *progress, const clm_step_info *info)
{
  char eta[CLM__FORMAT_SIZE];
  char loss[CLM__FORMAT_SIZE];
  char accuracy[CLM__FORMAT_SIZE];
  clm__say("Epoch %d/%d - step %zu/%zu - %.0f images/s - %s left - loss: %s - accuracy: %s",
           info->epoch + 1, info->epochs, info->step, info->steps_per_epoch,
           info->images_per_second, clm__format_seconds(seconds_left(progress, info), eta),
           clm__format_figure(info->figures.loss, loss),
           clm__format_figure(info->figures.accuracy, accuracy));
}

void clm__progress_epoch_begin(clm__progress *progress, int epoch, int epochs)
{
  progress->has_first = false;
  if (progress->kind == CLM__PROGRESS_BAR) clm__say("Epoch %d/%d", epoch + 1, epochs);
}

void clm__progress_step(clm__progress *progress, const clm_step_info *info)
{
  const bool is_first = progress->last.step == 0; /* of the run */
  if (!progress->has_first) progress->first = *info;
  progress->has_first = true;
  progress->last = *info;
  if (progress->kind == CLM__PROGRESS_BAR && is_due(progress, REDRAW_SECONDS))
    draw_step(progress, info);
  else if (progress->kind == CLM__PROGRESS_LINES && is_due(progress, LINE_SECONDS))
    print_step(progress, info);
  else if (progress->kind == CLM__PROGRESS_JSON && (is_due(progress, EVENT_SECONDS) || is_first))
    clm__train_events_step(info, seconds_left(progress, info));
}

void clm__progress_validation(clm__progress *progress, size_t done, size_t count)
{
  const clm_step_info *last = &progress->last;
  if (count == 0) return;
  if (progress->kind == CLM__PROGRESS_BAR && is_due(progress, REDRAW_SECONDS)) {
    clm__text rest = {0};
    clm__text_add(&rest, "validating %.0f %%", 100.0 * (double)done / (double)count);
    add_figures(&rest, &last->figures, false);
    draw(progress, last->step, last->steps_per_epoch, &rest);
    clm__text_fini(&rest);
  } else if (progress->kind == CLM__PROGRESS_LINES && is_due(progress, LINE_SECONDS)) {
    clm__say("Epoch %d/%d - validating %zu/%zu", last->epoch + 1, last->epochs, done, count);
  } else if (progress->kind == CLM__PROGRESS_JSON && is_due(progress, EVENT_SECONDS)) {
    clm__train_events_validation(last, done, count);
  }
}

static void end_bar(const clm__progress *progress, const clm_epoch_info *info)
{
  char pace[CLM__FORMAT_SIZE];
  clm__text rest = {0};
  clm__text line = {0};
  const double steps = info->steps > 0 ? (double)info->steps : 1;
  clm__text_add(&rest, "%.0fs %s", info->seconds,
                clm__format_step_time(info->seconds / steps, pace));
  add_figures(&rest, &info->figures, true);
  add_bar(progress, &line, info->steps, info->steps, BAR_CELLS);
  clm__text_add(&line, "%s\n", clm__text_get(&rest));
  clm__say_text(clm__text_get(&line));
  clm__text_fini(&rest);
  clm__text_fini(&line);
}

static void end_line(const clm__progress *progress, const clm_epoch_info *info)
{
  char pace[CLM__FORMAT_SIZE];
  clm__text line = {0};
  const double steps = info->steps > 0 ? (double)info->steps : 1;
  clm__text_add(&line, "Epoch %d/%d - %.0fs - %s", info->epoch + 1, info->epochs, info->seconds,
                clm__format_step_time(info->seconds / steps, pace));
  add_figure(&line, "loss", info->figures.loss);
  add_figure(&line, "accuracy", info->figures.accuracy);
  add_figure(&line, "val_loss", info->figures.val_loss);
  add_figure(&line, "val_accuracy", info->figures.val_accuracy);
  if (progress->kind == CLM__PROGRESS_LINES)
    clm__say("%s", clm__text_get(&line));
  else
    clm__say_to_log("%s", clm__text_get(&line));
  clm__text_fini(&line);
}

void clm__progress_epoch_end(clm__progress *progress, const clm_epoch_info *info)
{
  progress->said_seconds = now();
  if (progress->kind == CLM__PROGRESS_BAR) end_bar(progress, info);
  end_line(progress, info);
  if (progress->kind == CLM__PROGRESS_JSON) clm__train_events_epoch(info);
}
