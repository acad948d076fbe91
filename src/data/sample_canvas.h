/* A canvas to paint smooth shapes on: the brushes of the demo data set. */
#ifndef CLM_DATA_SAMPLE_CANVAS_H
#define CLM_DATA_SAMPLE_CANVAS_H

#include "data/image.h"
#include "data/sample_random.h"

typedef struct clm__colour {
  float red; /* 0..1 */
  float green;
  float blue;
} clm__colour;

typedef struct clm__canvas {
  int width;
  int height;
  clm__colour *pixels; /* [height, width] */
} clm__canvas;

CLM_MUST_CHECK clm_status clm__canvas_init(clm__canvas *canvas, int width, int height);
void clm__canvas_fini(clm__canvas *canvas);

/* a, b and what lies between: share 0 is a. */
clm__colour clm__colour_mix(clm__colour a, clm__colour b, float share);

/* A leaf or petal: an outline about an axis, from its base to its tip. */
typedef struct clm__petal {
  float x; /* of the base, in pixels */
  float y;
  float turns; /* direction of the axis; 0 points to the right, a quarter downwards */
  float length;
  float half_width; /* at the widest place */
  float belly;      /* 0..1: where along the axis that is */
  float point;      /* 0: a round tip, 1: a pointed one */
  float notch;      /* 0..1: how deep the tip is cut in */
  float vein;       /* 0..1: how dark the line along the axis is */
  clm__colour base;
  clm__colour tip;
} clm__petal;

/* Paints it, with a soft shadow on what lies below. */
void clm__canvas_petal(clm__canvas *canvas, const clm__petal *petal);

/* A disc, lit from above. */
void clm__canvas_disc(clm__canvas *canvas, float x, float y, float radius, clm__colour colour);

/* A spot without an edge, of strength 0..1. */
void clm__canvas_blur(clm__canvas *canvas, float x, float y, float radius, clm__colour colour,
                      float strength);

typedef struct clm__stroke {
  float x0;
  float y0;
  float x1;
  float y1;
  float half_width;
  clm__colour colour;
} clm__stroke;

/* A line with round ends. */
void clm__canvas_stroke(clm__canvas *canvas, const clm__stroke *stroke);

/* Fills everything: from one colour to another in a direction, with clouds in between. */
void clm__canvas_sky(clm__canvas *canvas, clm__colour from, clm__colour to, float turns,
                     clm__sample_random *random);

/* Light, contrast and grain; then 8 bits a colour. */
typedef struct clm__develop {
  float light;
  float contrast;
  float grain;
  float warmth; /* -1 blue .. 1 red */
} clm__develop;

CLM_MUST_CHECK clm_status clm__canvas_develop(const clm__canvas *canvas,
                                              const clm__develop *develop,
                                              clm__sample_random *random, clm__image *image);

#endif
