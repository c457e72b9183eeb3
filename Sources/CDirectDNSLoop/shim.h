// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#endif

#pragma clang assume_nonnull begin

#if defined(__linux__)
// Of an enumeration with glibc, and numbers with musl.
static const uint32_t directdns_epollin = EPOLLIN, directdns_epollout = EPOLLOUT;
static const uint32_t directdns_epoll_failed = EPOLLERR | EPOLLHUP;
#endif

/// What waits to be read of a connection: 1 for bytes, 0 for its end, also where it was broken off, -1 for nothing.
static inline int directdns_peek(int socket) {
  char byte;
  ssize_t count = recv(socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return -1;
  return count > 0;
}

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

typedef void *_Nullable (*directdns_thread_body)(void *_Nullable context);

/// Starts a thread that nobody waits for; 0, or why there is none (pthread_create(3)).
///
/// Its stack is as large as the system's default with glibc (`ulimit -s`), and 8 MiB elsewhere, since a caller's tasks
/// may run on it. It takes no signals but those that libdispatch's threads take, too: a fault's of its own, and
/// SIGPIPE, which what a caller's task starts would inherit blocked. All others are for the application's threads.
static inline int directdns_thread_start(directdns_thread_body body, void *context) {
  static const int taken[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPROF, SIGPIPE};
  sigset_t blocked, before;
  (void)sigfillset(&blocked);
  for (size_t index = 0; index < sizeof taken / sizeof *taken; index++) (void)sigdelset(&blocked, taken[index]);
  pthread_attr_t attributes;
  int code = pthread_attr_init(&attributes);
  if (code != 0) return code;
  (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#if !defined(__GLIBC__)
  // As much as a main thread has: Darwin would give 512 KiB (pthread_attr_setstacksize(3)), musl 128 KiB.
  (void)pthread_attr_setstacksize(&attributes, (size_t)8 << 20);
#endif
  // Inherited from its creator: set by the thread itself, a signal could come before.
  (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  code = pthread_create(&thread, &attributes, body, context);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attributes);
  return code;
}

/// Has writes of the thread that calls it fail by EPIPE alone: c-ares writes to sockets without MSG_NOSIGNAL, and a server that
/// has closed its end would end the whole process.
static inline void directdns_thread_block_sigpipe(void) {
  sigset_t pipe;
  (void)sigemptyset(&pipe);
  (void)sigaddset(&pipe, SIGPIPE);
  (void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
}

/// Has all threads share so many arenas of malloc(3), where it is glibc's; to be called before there are threads.
static inline void directdns_threads_share_arenas(int count) {
#if defined(__GLIBC__)
  // Declared here: malloc.h has stdio.h with it, whose types Swift would take for those of this module.
  extern int mallopt(int parameter, int value);
  enum { arena_max = -8 };  // Its M_ARENA_MAX.
  (void)mallopt(arena_max, count);
#else
  (void)count;
#endif
}

/// Has threads that are started with a stack of the usual size, whoever starts them, get one of so many bytes at most,
/// where glibc gives it.
static inline void directdns_threads_limit_stacks(size_t most) {
#if defined(__GLIBC__)
  // GNU extensions, which pthread.h declares for who asks for all of these.
  extern int pthread_getattr_default_np(pthread_attr_t *attributes);
  extern int pthread_setattr_default_np(const pthread_attr_t *attributes);
  pthread_attr_t attributes;
  size_t size = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  if (pthread_attr_getstacksize(&attributes, &size) == 0 && size > most &&
      pthread_attr_setstacksize(&attributes, most) == 0)
    (void)pthread_setattr_default_np(&attributes);
  (void)pthread_attr_destroy(&attributes);
#else
  (void)most;
#endif
}

/// Names the thread that calls it, for debuggers.
static inline void directdns_thread_name(const char *name) {
#if defined(__APPLE__)
  (void)pthread_setname_np(name);
  (void)pthread_set_qos_class_self_np(QOS_CLASS_USER_INITIATED, 0);
#elif defined(__linux__)
  // The first 15 bytes of it (PR_SET_NAME(2const)).
  (void)prctl(PR_SET_NAME, name);
#endif
}

#pragma clang assume_nonnull end
