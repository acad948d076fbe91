/* Clematis: a trainer of image classifiers that runs wherever OpenCL runs. All public headers. */
#ifndef CLEMATIS_CLEMATIS_H
#define CLEMATIS_CLEMATIS_H

#include "clematis/config.h"
#include "clematis/data.h"
#include "clematis/device.h"
#include "clematis/job.h"
#include "clematis/launch.h"
#include "clematis/log.h"
#include "clematis/model.h"
#include "clematis/status.h"
#include "clematis/train.h"
#include "clematis/tune.h"
#include "clematis/version.h"

#endif
