/* Attributes of Activation, for the ops that take one in as their epilogue. */
#ifndef CLM_OP_ACTIVATION_H
#define CLM_OP_ACTIVATION_H

#include "op/field.h"

typedef struct clm__activation_attributes {
  clm__activation activation;
} clm__activation_attributes;

#endif
