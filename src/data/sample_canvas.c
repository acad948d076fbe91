#include "data/sample_canvas.h"

#include "base/mem.h"

#include <math.h>

#define SHADOW_PIXELS 4.0F
#define CLOUD_CELLS 5

clm_status clm__canvas_init(clm__canvas *canvas, int width, int height)
{
  CLM_ASSERT(width > 0 && height > 0);
  CLM_TRY(clm__mem_alloc((size_t)width * (size_t)height, sizeof *canvas->pixels, &canvas->pixels));
  canvas->width = width;
  canvas->height = height;
  return CLM_OK;
}

void clm__canvas_fini(clm__canvas *canvas)
{
  clm__mem_free(canvas->pixels);
  *canvas = (clm__canvas){0};
}

static float clamp(float value, float low, float high)
{
  if (value < low) return low;
  return value > high ? high : value;
}

clm__colour clm__colour_mix(clm__colour a, clm__colour b, float share)
{
  return (clm__colour){a.red + (b.red - a.red) * share, a.green + (b.green - a.green) * share,
                       a.blue + (b.blue - a.blue) * share};
}

static clm__colour scale(clm__colour colour, float factor)
{
  return (clm__colour){colour.red * factor, colour.green * factor, colour.blue * factor};
}

/* The pixels within `reach` of a place. */
typedef struct area {
  int left;
  int top;
  int right; /* behind the last */
  int bottom;
} area;

static area area_about(const clm__canvas *canvas, float x, float y, float reach)
{
  return (area){
      .left = (int)clamp(floorf(x - reach), 0, (float)canvas->width),
      .top = (int)clamp(floorf(y - reach), 0, (float)canvas->height),
      .right = (int)clamp(ceilf(x + reach) + 1, 0, (float)canvas->width),
      .bottom = (int)clamp(ceilf(y + reach) + 1, 0, (float)canvas->height),
  };
}

static clm__colour *pixel_at(const clm__canvas *canvas, int x, int y)
{
  return &canvas->pixels[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* ---- petals ---- */

/* Half the width at a place 0..1 of the axis, as a share of the widest. Two arcs meet at the
 * belly; the outer one is an ellipse for a round tip and a parabola for a pointed one. */
static float outline(const clm__petal *petal, float along)
{
  if (along <= 0 || along >= 1) return 0;
  if (along < petal->belly) {
    const float rest = 1 - along / petal->belly;
    return sqrtf(1 - rest * rest * (1 - 0.06F));
  }
  const float out = (along - petal->belly) / (1 - petal->belly);
  const float round = sqrtf(1 - out * out);
  const float pointed = (1 - out) * (1 + 0.8F * out);
  return round + (pointed - round) * petal->point;
}

/* How far inside the outline a place is, in pixels; along and across in units of the axis. */
static float depth(const clm__petal *petal, float along, float across)
{
  const float step = 0.02F;
  const float width = outline(petal, along);
  const float slope = (outline(petal, along + step) - outline(petal, along - step)) *
                      petal->half_width / (2 * step * petal->length);
  float inside = (width * petal->half_width - fabsf(across)) / sqrtf(1 + slope * slope);
  if (petal->notch > 0) {
    const float side = fabsf(across) / petal->half_width;
    const float rim = (1 - along - petal->notch * (1 - clamp(2.2F * side, 0, 1))) * petal->length;
    if (rim < inside) inside = rim;
  }
  return inside;
}

static clm__colour petal_colour(const clm__petal *petal, float along, float across)
{
  const float side = across / (petal->half_width * outline(petal, along) + 0.5F);
  clm__colour colour = clm__colour_mix(petal->base, petal->tip, clamp(along, 0, 1));
  const float rib = clamp(1 - fabsf(across) * 9 / petal->half_width, 0, 1);
  const float streak = 0.5F + 0.5F * clm__sample_sin(2.5F * side);
  float shade = 1 - 0.16F * side * side - 0.35F * petal->vein * rib;
  shade -= 0.05F * streak * (0.3F + petal->vein);
  /* One half catches more light than the other. */
  shade += 0.05F * clamp(side * 3, -1, 1);
  return scale(colour, shade);
}

static void paint_petal_pixel(clm__colour *pixel, const clm__petal *petal, float along,
                              float across)
{
  const float inside = depth(petal, along, across);
  const float cover = clamp(inside + 0.5F, 0, 1);
  if (inside < 0.5F) {
    const float shadow = clamp(1 + inside / SHADOW_PIXELS, 0, 1);
    *pixel = scale(*pixel, 1 - 0.3F * shadow * shadow);
  }
  if (cover > 0) *pixel = clm__colour_mix(*pixel, petal_colour(petal, along, across), cover);
}

void clm__canvas_petal(clm__canvas *canvas, const clm__petal *petal)
{
  const float cosine = clm__sample_cos(petal->turns);
  const float sine = clm__sample_sin(petal->turns);
  const float half = petal->length / 2;
  const float reach = sqrtf(half * half + petal->half_width * petal->half_width) + SHADOW_PIXELS;
  const area here = area_about(canvas, petal->x + half * cosine, petal->y + half * sine, reach);
  const float margin = SHADOW_PIXELS / petal->length;
  for (int y = here.top; y < here.bottom; y++) {
    for (int x = here.left; x < here.right; x++) {
      const float dx = (float)x + 0.5F - petal->x;
      const float dy = (float)y + 0.5F - petal->y;
      const float along = (dx * cosine + dy * sine) / petal->length;
      const float across = dy * cosine - dx * sine;
      if (along < -margin || along > 1 + margin) continue;
      if (fabsf(across) > petal->half_width + SHADOW_PIXELS) continue;
      paint_petal_pixel(pixel_at(canvas, x, y), petal, along, across);
    }
  }
}

/* ---- discs, blurs, strokes ---- */

void clm__canvas_disc(clm__canvas *canvas, float x, float y, float radius, clm__colour colour)
{
  const area here = area_about(canvas, x, y, radius + 1);
  for (int row = here.top; row < here.bottom; row++) {
    for (int column = here.left; column < here.right; column++) {
      const float dx = (float)column + 0.5F - x;
      const float dy = (float)row + 0.5F - y;
      const float away = sqrtf(dx * dx + dy * dy);
      const float cover = clamp(radius - away + 0.5F, 0, 1);
      const float shade = 1.06F - 0.3F * away * away / (radius * radius) - 0.1F * dy / radius;
      clm__colour *pixel = pixel_at(canvas, column, row);
      if (cover > 0) *pixel = clm__colour_mix(*pixel, scale(colour, shade), cover);
    }
  }
}

void clm__canvas_blur(clm__canvas *canvas, float x, float y, float radius, clm__colour colour,
                      float strength)
{
  const area here = area_about(canvas, x, y, radius);
  for (int row = here.top; row < here.bottom; row++) {
    for (int column = here.left; column < here.right; column++) {
      const float dx = ((float)column + 0.5F - x) / radius;
      const float dy = ((float)row + 0.5F - y) / radius;
      const float rest = clamp(1 - dx * dx - dy * dy, 0, 1);
      clm__colour *pixel = pixel_at(canvas, column, row);
      *pixel = clm__colour_mix(*pixel, colour, strength * rest * rest);
    }
  }
}

void clm__canvas_stroke(clm__canvas *canvas, const clm__stroke *stroke)
{
  const float dx = stroke->x1 - stroke->x0;
  const float dy = stroke->y1 - stroke->y0;
  const float length = sqrtf(dx * dx + dy * dy) + 1e-3F;
  const area here = area_about(canvas, (stroke->x0 + stroke->x1) / 2, (stroke->y0 + stroke->y1) / 2,
                               length / 2 + stroke->half_width + 1);
  for (int row = here.top; row < here.bottom; row++) {
    for (int column = here.left; column < here.right; column++) {
      const float px = (float)column + 0.5F - stroke->x0;
      const float py = (float)row + 0.5F - stroke->y0;
      const float along = clamp((px * dx + py * dy) / (length * length), 0, 1);
      const float ox = px - along * dx;
      const float oy = py - along * dy;
      const float away = sqrtf(ox * ox + oy * oy);
      const float cover = clamp(stroke->half_width - away + 0.5F, 0, 1);
      const float shade = 1 - 0.25F * away / (stroke->half_width + 0.5F);
      clm__colour *pixel = pixel_at(canvas, column, row);
      if (cover > 0) *pixel = clm__colour_mix(*pixel, scale(stroke->colour, shade), cover);
    }
  }
}

/* ---- the whole canvas ---- */

static float smooth(float share) { return share * share * (3 - 2 * share); }

/* A value between the four corners of the cell a place lies in. */
static float cloud_at(const float *corners, float x, float y)
{
  const int column = (int)x;
  const int row = (int)y;
  const float right = smooth(x - (float)column);
  const float down = smooth(y - (float)row);
  const float *upper = corners + row * (CLOUD_CELLS + 1) + column;
  const float *lower = upper + CLOUD_CELLS + 1;
  const float top = upper[0] + (upper[1] - upper[0]) * right;
  const float bottom = lower[0] + (lower[1] - lower[0]) * right;
  return top + (bottom - top) * down;
}

void clm__canvas_sky(clm__canvas *canvas, clm__colour from, clm__colour to, float turns,
                     clm__sample_random *random)
{
  float corners[(CLOUD_CELLS + 1) * (CLOUD_CELLS + 1)];
  for (int i = 0; i < (CLOUD_CELLS + 1) * (CLOUD_CELLS + 1); i++)
    corners[i] = clm__sample_between(random, -1, 1);
  const float cosine = clm__sample_cos(turns) / (float)canvas->width;
  const float sine = clm__sample_sin(turns) / (float)canvas->height;
  const float column_cells = (CLOUD_CELLS - 0.01F) / (float)canvas->width;
  const float row_cells = (CLOUD_CELLS - 0.01F) / (float)canvas->height;
  for (int y = 0; y < canvas->height; y++) {
    for (int x = 0; x < canvas->width; x++) {
      const float cloud = cloud_at(corners, (float)x * column_cells, (float)y * row_cells);
      const float way = 0.5F + ((float)x - (float)canvas->width / 2) * cosine +
                        ((float)y - (float)canvas->height / 2) * sine;
      const clm__colour colour = clm__colour_mix(from, to, clamp(way + 0.3F * cloud, 0, 1));
      *pixel_at(canvas, x, y) = scale(colour, 1 + 0.12F * cloud);
    }
  }
}

static uint8_t to_byte(float value) { return (uint8_t)(clamp(value, 0, 1) * 255 + 0.5F); }

clm_status clm__canvas_develop(const clm__canvas *canvas, const clm__develop *develop,
                               clm__sample_random *random, clm__image *image)
{
  CLM_TRY(clm__image_prepare(image, canvas->height, canvas->width, 3));
  const size_t count = (size_t)canvas->width * (size_t)canvas->height;
  const float gain = develop->light * develop->contrast;
  const float lift = develop->light * 0.5F * (1 - develop->contrast);
  for (size_t i = 0; i < count; i++) {
    const clm__colour *pixel = &canvas->pixels[i];
    const float grain = develop->grain * clm__sample_between(random, -1, 1) + lift;
    image->pixels[3 * i] = to_byte(pixel->red * gain * (1 + develop->warmth) + grain);
    image->pixels[3 * i + 1] = to_byte(pixel->green * gain + grain);
    image->pixels[3 * i + 2] = to_byte(pixel->blue * gain * (1 - develop->warmth) + grain);
  }
  return CLM_OK;
}
