// SPDX-License-Identifier: Apache-2.0
/* Timing: the median of nine passes over one operation. */
#pragma once
#include <stdlib.h>
#include <time.h>

enum { PASSES = 9 };

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static inline double median(double *passes) {
  qsort(passes, PASSES, sizeof *passes, compare);
  return passes[PASSES / 2];
}
