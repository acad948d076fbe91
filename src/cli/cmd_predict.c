#include "cli/commands.h"
#include "cli/say.h"
#include "cli/text.h"

/* Class names and images of one call. */
typedef struct answer {
  const clm_model *model;
  const char *image;
  const float *probabilities; /* [classes] */
  int class_count;
  int top;
} answer;

/* The class with the place-th largest probability; the lower index where two are equal. */
static int class_at(const answer *given, int place)
{
  for (int i = 0; i < given->class_count; i++) {
    int before = 0;
    for (int j = 0; j < given->class_count; j++) {
      const float other = given->probabilities[j];
      before += other > given->probabilities[i] || (!(other < given->probabilities[i]) && j < i);
    }
    if (before == place) return i;
  }
  return 0;
}

static void add_class_name(const answer *given, int index, clm__text *text)
{
  const char *name = clm_model_class_name(given->model, index);
  if (name != NULL)
    clm__text_add(text, "%s", name);
  else
    clm__text_add(text, "class %d", index);
}

/* "photo.jpg: tulip 93.1 %, rose 5.2 %" */
static void say_words(const answer *given)
{
  clm__text line = {0};
  for (int place = 0; place < given->top; place++) {
    const int index = class_at(given, place);
    clm__text_add(&line, place == 0 ? "%s" : ", %s", "");
    add_class_name(given, index, &line);
    clm__text_add(&line, " %.1f %%", 100.0 * (double)given->probabilities[index]);
  }
  clm__say("%s: %s", given->image, clm__text_get(&line));
  clm__text_fini(&line);
}

static clm_status add_quoted(const char *words, clm__text *text)
{
  char *quoted = NULL;
  const clm_status status = clm_config_quote(words, &quoted);
  if (status != CLM_OK) return clm__say_library_error(status);
  clm__text_add(text, "%s", quoted);
  clm_text_free(quoted);
  return CLM_OK;
}

/* {"image": ..., "classes": [{"index": ..., "name": ..., "probability": ...}, ...]} */
static clm_status add_json(const answer *given, clm__text *text)
{
  clm__text_add(text, "  {\"image\": ");
  clm_status status = add_quoted(given->image, text);
  clm__text_add(text, ", \"classes\": [");
  for (int place = 0; status == CLM_OK && place < given->top; place++) {
    const int index = class_at(given, place);
    clm__text name = {0};
    add_class_name(given, index, &name);
    clm__text_add(text, "%s{\"index\": %d, \"name\": ", place > 0 ? ", " : "", index);
    status = add_quoted(clm__text_get(&name), text);
    clm__text_add(text, ", \"probability\": %.9g}", (double)given->probabilities[index]);
    clm__text_fini(&name);
  }
  clm__text_add(text, "]}");
  return status;
}

static clm_status say_answers(const clm__cli_config *config, const clm_model *model,
                              const float *probabilities)
{
  const int count = config->argument_count - 1;
  const int class_count = clm_model_class_count(model);
  clm__text json = {0};
  clm_status status = CLM_OK;
  clm__text_add(&json, "[\n");
  for (int i = 0; status == CLM_OK && i < count; i++) {
    const answer given = {
        .model = model,
        .image = config->arguments[1 + i],
        .probabilities = probabilities + (size_t)i * (size_t)class_count,
        .class_count = class_count,
        .top = config->top < class_count ? config->top : class_count,
    };
    if (config->json) {
      status = add_json(&given, &json);
      clm__text_add(&json, i + 1 < count ? ",\n" : "\n");
    } else {
      say_words(&given);
    }
  }
  if (status == CLM_OK && config->json) clm__say("%s]", clm__text_get(&json));
  clm__text_fini(&json);
  return status;
}

static clm_status predict(const clm__cli_config *config, const clm_model *model)
{
  const size_t count = (size_t)config->argument_count - 1;
  const size_t classes = (size_t)clm_model_class_count(model);
  float *probabilities = clm__memory_take(count, classes * sizeof *probabilities);
  clm_status status = clm_model_predict(model, config->arguments + 1, count, &config->train.data,
                                        &config->train.run, probabilities);
  status =
      status == CLM_OK ? say_answers(config, model, probabilities) : clm__say_library_error(status);
  clm__memory_free(probabilities);
  return status;
}

clm_status clm__cmd_predict(clm__cli_config *config)
{
  clm_model *model = NULL;
  config->train.run.log = clm__say_log();
  clm_status status = clm_model_load(config->arguments[0], clm__say_log(), &model);
  status = status == CLM_OK ? predict(config, model) : clm__say_library_error(status);
  clm_model_destroy(model);
  return status;
}
