// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif

#pragma clang assume_nonnull begin

static inline void directdns_loop_close(int descriptor) { close(descriptor); }

/// A descriptor that can be read from once the other one was called, or -1. Where there is eventfd(2) they are the same.
static inline int directdns_wakeup_open(int *writing) {
#if defined(__linux__)
  return *writing = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#else
  int ends[2];
  if (pipe(ends) != 0) return -1;
  for (int index = 0; index < 2; index++) {
    (void)fcntl(ends[index], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[index], F_SETFL, O_NONBLOCK);
  }
  *writing = ends[1];
  return ends[0];
#endif
}
static inline void directdns_wakeup_close(int reading, int writing) {
  close(reading);
  if (writing != reading) close(writing);
}
static inline void directdns_wakeup_call(int writing) {
  uint64_t one = 1;
  // A pipe that is full has enough in it.
  (void)!write(writing, &one, sizeof one);
}
static inline void directdns_wakeup_drain(int reading) {
  uint64_t calls[16];
  (void)!read(reading, calls, sizeof calls);
}

/// A `pollfd` of our own: the system's would be claimed by two modules.
struct directdns_pollfd {
  int fd;
  short events, revents;
};
static const short directdns_pollin = POLLIN, directdns_pollout = POLLOUT;

static inline int directdns_poll(struct directdns_pollfd *watched, int count, int milliseconds) {
  _Static_assert(sizeof(struct directdns_pollfd) == sizeof(struct pollfd), "poll(2) takes it as it is");
  return poll((struct pollfd *)(void *)watched, (nfds_t)count, milliseconds);
}

#pragma clang assume_nonnull end
