// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include <time.h>

// Clocks by value: the C functions fill a struct behind a pointer.

static inline int64_t directdns_nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Steady, and goes on while the machine is suspended, 25 ns a call; macOS's CLOCK_MONOTONIC does so by itself.
static inline int64_t directdns_elapsed(void) {
#if defined(__linux__)
  return directdns_nanoseconds(CLOCK_BOOTTIME);
#else
  return directdns_nanoseconds(CLOCK_MONOTONIC);
#endif
}

/// Steady, and on Linux stands still while the machine is suspended, 25 ns a call.
static inline int64_t directdns_awake(void) { return directdns_nanoseconds(CLOCK_MONOTONIC); }

/// The same, up to 4 ms behind, 10 ns a call.
static inline int64_t directdns_awake_coarse(void) {
#if defined(CLOCK_MONOTONIC_COARSE)
  return directdns_nanoseconds(CLOCK_MONOTONIC_COARSE);
#else
  return directdns_nanoseconds(CLOCK_MONOTONIC);
#endif
}

static inline int64_t directdns_wall_milliseconds(void) { return directdns_nanoseconds(CLOCK_REALTIME) / 1000000; }
