#include "data/sample_flower.h"

#include "data/sample_canvas.h"

/* A flower's place on the canvas and its colours. */
typedef struct flower {
  float x; /* of the middle */
  float y;
  float radius;
  float turns;
  clm__colour base; /* of a petal */
  clm__colour tip;
  clm__colour heart;
} flower;

/* All kinds have all colours: only the shape tells them apart. */
static const clm__colour petal_colours[] = {
    {0.97F, 0.96F, 0.92F}, {0.98F, 0.83F, 0.15F}, {0.96F, 0.55F, 0.70F}, {0.86F, 0.13F, 0.17F},
    {0.55F, 0.30F, 0.76F}, {0.32F, 0.44F, 0.88F}, {0.98F, 0.55F, 0.13F}, {0.99F, 0.90F, 0.66F},
};
static const clm__colour heart_colours[] = {
    {0.96F, 0.76F, 0.12F}, {0.38F, 0.22F, 0.10F}, {0.62F, 0.62F, 0.20F},
    {0.20F, 0.15F, 0.17F}, {0.85F, 0.50F, 0.15F},
};
static const clm__colour ground_colours[] = {
    {0.16F, 0.30F, 0.12F}, {0.25F, 0.38F, 0.16F}, {0.24F, 0.32F, 0.42F}, {0.28F, 0.22F, 0.16F},
    {0.30F, 0.31F, 0.29F}, {0.09F, 0.13F, 0.12F}, {0.36F, 0.33F, 0.24F}, {0.18F, 0.29F, 0.27F},
};
#define COUNT_OF(table) ((int)(sizeof(table) / sizeof(table)[0]))

static const clm__colour white = {1, 1, 1};
static const clm__colour black = {0, 0, 0};

/* A colour of a table, a little off. */
static clm__colour pick(clm__sample_random *random, const clm__colour *table, int count)
{
  clm__colour colour = table[clm__sample_whole(random, 0, count - 1)];
  colour.red += clm__sample_between(random, -0.07F, 0.07F);
  colour.green += clm__sample_between(random, -0.07F, 0.07F);
  colour.blue += clm__sample_between(random, -0.07F, 0.07F);
  return colour;
}

static clm__colour pick_green(clm__sample_random *random)
{
  const clm__colour dark = {0.13F, 0.30F, 0.10F};
  const clm__colour light = {0.42F, 0.62F, 0.22F};
  return clm__colour_mix(dark, light, clm__sample_between(random, 0, 1));
}

/* Petals all round the middle, each a little off its place. `model` gives all but place and
 * direction; inner is where they begin, as a share of the radius. */
static void paint_ring(clm__canvas *canvas, const flower *f, const clm__petal *model, int count,
                       float inner, clm__sample_random *random)
{
  const float start = f->turns + clm__sample_between(random, 0, 1);
  for (int i = 0; i < count; i++) {
    clm__petal petal = *model;
    petal.turns = start + ((float)i + clm__sample_between(random, -0.07F, 0.07F)) / (float)count;
    petal.length *= clm__sample_between(random, 0.93F, 1.05F);
    petal.x = f->x + inner * f->radius * clm__sample_cos(petal.turns);
    petal.y = f->y + inner * f->radius * clm__sample_sin(petal.turns);
    const float light = clm__sample_between(random, -0.08F, 0.08F);
    petal.tip = clm__colour_mix(petal.tip, light > 0 ? white : black, light > 0 ? light : -light);
    clm__canvas_petal(canvas, &petal);
  }
}

/* Dots along a spiral, as seeds lie. */
static void paint_seeds(clm__canvas *canvas, const flower *f, float radius, int count,
                        clm__colour colour)
{
  const float golden = 0.381966F;
  for (int i = 0; i < count; i++) {
    const float share = ((float)i + 0.5F) / (float)count;
    const float away = radius * (0.2F + 0.75F * share);
    const float turns = f->turns + golden * (float)i;
    clm__canvas_disc(canvas, f->x + away * clm__sample_cos(turns),
                     f->y + away * clm__sample_sin(turns), 0.09F * radius, colour);
  }
}

/* Round, broad petals that overlap, cut in at the tip. */
static void paint_buttercup(clm__canvas *canvas, const flower *f, clm__sample_random *random)
{
  const int count = clm__sample_whole(random, 4, 6);
  const clm__petal model = {
      .length = 0.92F * f->radius,
      .half_width = f->radius * 2.1F / (float)count,
      .belly = 0.62F,
      .notch = 0.10F,
      .vein = 0.25F,
      .base = clm__colour_mix(f->base, black, 0.15F),
      .tip = f->tip,
  };
  paint_ring(canvas, f, &model, count, 0.08F, random);
  clm__canvas_disc(canvas, f->x, f->y, 0.17F * f->radius, f->heart);
  paint_seeds(canvas, f, 0.24F * f->radius, 14, clm__colour_mix(f->heart, white, 0.35F));
}

/* Pointed petals with a dark rib, and long stamens. */
static void paint_clematis(clm__canvas *canvas, const flower *f, clm__sample_random *random)
{
  const int count = clm__sample_whole(random, 5, 8);
  const clm__petal model = {
      .length = 1.05F * f->radius,
      .half_width = f->radius * 1.25F / (float)count,
      .belly = 0.45F,
      .point = 1,
      .vein = 1,
      .base = clm__colour_mix(f->base, white, 0.2F),
      .tip = f->tip,
  };
  paint_ring(canvas, f, &model, count, 0.02F, random);
  for (int i = 0; i < 14; i++) {
    const float turns = f->turns + ((float)i + clm__sample_between(random, -0.3F, 0.3F)) / 14;
    const float away = f->radius * clm__sample_between(random, 0.22F, 0.36F);
    const clm__stroke stamen = {
        .x0 = f->x,
        .y0 = f->y,
        .x1 = f->x + away * clm__sample_cos(turns),
        .y1 = f->y + away * clm__sample_sin(turns),
        .half_width = 0.012F * f->radius + 0.3F,
        .colour = clm__colour_mix(f->heart, white, 0.5F),
    };
    clm__canvas_stroke(canvas, &stamen);
    clm__canvas_disc(canvas, stamen.x1, stamen.y1, 0.035F * f->radius + 0.3F, f->heart);
  }
}

/* Many thin petals with gaps in between, and a small heart. */
static void paint_daisy(clm__canvas *canvas, const flower *f, clm__sample_random *random)
{
  const int count = clm__sample_whole(random, 13, 20);
  const clm__petal model = {
      .length = 0.86F * f->radius,
      .half_width = f->radius * 1.35F / (float)count,
      .belly = 0.75F,
      .vein = 0.3F,
      .base = clm__colour_mix(f->base, black, 0.2F),
      .tip = f->tip,
  };
  paint_ring(canvas, f, &model, count, 0.14F, random);
  clm__canvas_disc(canvas, f->x, f->y, 0.23F * f->radius, f->heart);
  paint_seeds(canvas, f, 0.2F * f->radius, 20, clm__colour_mix(f->heart, white, 0.25F));
}

/* A large heart full of seeds, and short pointed petals in two rows. */
static void paint_sunflower(clm__canvas *canvas, const flower *f, clm__sample_random *random)
{
  const int count = clm__sample_whole(random, 14, 21);
  clm__petal model = {
      .length = 0.55F * f->radius,
      .half_width = f->radius * 1.9F / (float)count,
      .belly = 0.4F,
      .point = 0.9F,
      .vein = 0.4F,
      .base = clm__colour_mix(f->base, black, 0.35F),
      .tip = clm__colour_mix(f->tip, black, 0.15F),
  };
  paint_ring(canvas, f, &model, count, 0.46F, random);
  model.tip = f->tip;
  model.length *= 0.85F;
  paint_ring(canvas, f, &model, count, 0.44F, random);
  clm__canvas_disc(canvas, f->x, f->y, 0.54F * f->radius, f->heart);
  const clm__colour seed = clm__colour_mix(f->heart, white, 0.4F);
  for (int row = 1; row <= 3; row++) {
    const flower turned = {.x = f->x, .y = f->y, .turns = f->turns + 0.13F * (float)row};
    paint_seeds(canvas, &turned, 0.17F * (float)row * f->radius, 16 + 10 * row,
                row == 2 ? clm__colour_mix(f->heart, black, 0.3F) : seed);
  }
}

/* A cup seen from the side, on a stem with long leaves. */
static void paint_tulip(clm__canvas *canvas, const flower *f, clm__sample_random *random)
{
  const float up = -0.25F + clm__sample_between(random, -0.12F, 0.12F);
  const float base_x = f->x - 0.75F * f->radius * clm__sample_cos(up);
  const float base_y = f->y - 0.75F * f->radius * clm__sample_sin(up);
  const clm__colour green = pick_green(random);
  const clm__stroke stem = {
      .x0 = base_x,
      .y0 = base_y,
      .x1 = base_x - 2.5F * f->radius * clm__sample_cos(up),
      .y1 = base_y - 2.5F * f->radius * clm__sample_sin(up),
      .half_width = 0.06F * f->radius + 0.5F,
      .colour = green,
  };
  clm__canvas_stroke(canvas, &stem);
  clm__petal petal = {
      .x = base_x,
      .y = base_y,
      .length = 1.55F * f->radius,
      .half_width = 0.42F * f->radius,
      .belly = 0.4F,
      .point = 0.8F,
      .vein = 0.5F,
      .base = clm__colour_mix(f->base, black, 0.25F),
      .tip = clm__colour_mix(f->tip, black, 0.12F),
  };
  static const float spread[] = {-0.04F, 0.04F, -0.085F, 0.085F, 0};
  for (int i = 0; i < COUNT_OF(spread); i++) {
    petal.turns = up + spread[i] * clm__sample_between(random, 0.85F, 1.2F);
    if (i >= 2) petal.tip = f->tip;
    clm__canvas_petal(canvas, &petal);
  }
}

typedef struct flower_kind {
  const char *name;
  void (*paint)(clm__canvas *canvas, const flower *f, clm__sample_random *random);
} flower_kind;

static const flower_kind kinds[CLM__SAMPLE_KIND_COUNT] = {
    {"buttercup", paint_buttercup}, {"clematis", paint_clematis}, {"daisy", paint_daisy},
    {"sunflower", paint_sunflower}, {"tulip", paint_tulip},
};

const char *clm__sample_kind_name(int kind) { return kinds[kind].name; }

/* Ground, things out of focus, leaves: nothing that tells the kind. */
static void paint_background(clm__canvas *canvas, clm__sample_random *random)
{
  const float size = (float)(canvas->width < canvas->height ? canvas->width : canvas->height);
  const clm__colour from = pick(random, ground_colours, COUNT_OF(ground_colours));
  const clm__colour to = pick(random, ground_colours, COUNT_OF(ground_colours));
  clm__canvas_sky(canvas, from, to, clm__sample_between(random, 0, 1), random);
  const int blurs = clm__sample_whole(random, 2, 7);
  for (int i = 0; i < blurs; i++) {
    const int of_petals = clm__sample_whole(random, 0, 2) == 0;
    const clm__colour colour =
        of_petals ? pick(random, petal_colours, COUNT_OF(petal_colours)) : pick_green(random);
    const float x = clm__sample_between(random, 0, (float)canvas->width);
    const float y = clm__sample_between(random, 0, (float)canvas->height);
    const float radius = size * clm__sample_between(random, 0.1F, 0.35F);
    clm__canvas_blur(canvas, x, y, radius, colour, clm__sample_between(random, 0.3F, 0.8F));
  }
  const int leaves = clm__sample_whole(random, 0, 3);
  for (int i = 0; i < leaves; i++) {
    const clm__colour green = pick_green(random);
    clm__petal leaf = {.belly = 0.45F, .point = 0.8F, .vein = 0.8F, .base = green, .tip = green};
    leaf.x = clm__sample_between(random, 0, (float)canvas->width);
    leaf.y = clm__sample_between(random, 0, (float)canvas->height);
    leaf.turns = clm__sample_between(random, 0, 1);
    leaf.length = size * clm__sample_between(random, 0.25F, 0.7F);
    leaf.half_width = leaf.length * clm__sample_between(random, 0.1F, 0.3F);
    clm__canvas_petal(canvas, &leaf);
  }
}

/* A flower not far from the middle: its size, colours and direction are open. */
static flower place_flower(const clm__canvas *canvas, clm__sample_random *random)
{
  const float size = (float)(canvas->width < canvas->height ? canvas->width : canvas->height);
  flower f = {.radius = size * clm__sample_between(random, 0.36F, 0.47F)};
  f.turns = clm__sample_between(random, 0, 1);
  f.base = pick(random, petal_colours, COUNT_OF(petal_colours));
  f.heart = pick(random, heart_colours, COUNT_OF(heart_colours));
  const clm__colour other = pick(random, petal_colours, COUNT_OF(petal_colours));
  f.tip = clm__colour_mix(f.base, other, clm__sample_between(random, 0, 0.3F));
  f.x = (float)canvas->width * clm__sample_between(random, 0.38F, 0.62F);
  f.y = (float)canvas->height * clm__sample_between(random, 0.38F, 0.62F);
  return f;
}

clm_status clm__sample_flower(uint64_t seed, int kind_index, int number, clm__image *image)
{
  CLM_ASSERT(kind_index >= 0 && kind_index < CLM__SAMPLE_KIND_COUNT);
  const uint32_t picture = (uint32_t)number * CLM__SAMPLE_KIND_COUNT + (uint32_t)kind_index;
  clm__sample_random random = clm__sample_random_begin(seed, picture);
  clm__canvas canvas = {0};
  const int width = clm__sample_whole(&random, 112, 224);
  const int height = (int)((float)width * clm__sample_between(&random, 0.86F, 1.16F));
  clm_status status = CLM_OK;
  CLM_TRY_TO(done, status, clm__canvas_init(&canvas, width, height));
  paint_background(&canvas, &random);
  const flower f = place_flower(&canvas, &random);
  kinds[kind_index].paint(&canvas, &f, &random);
  clm__develop develop = {.light = clm__sample_between(&random, 0.85F, 1.15F)};
  develop.contrast = clm__sample_between(&random, 0.85F, 1.15F);
  develop.grain = clm__sample_between(&random, 0.005F, 0.03F);
  develop.warmth = clm__sample_between(&random, -0.08F, 0.08F);
  CLM_TRY_TO(done, status, clm__canvas_develop(&canvas, &develop, &random, image));
done:
  clm__canvas_fini(&canvas);
  return status;
}
