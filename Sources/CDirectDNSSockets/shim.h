// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#if defined(__linux__)
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// The next connection, from its beginning without blocking and not inherited by other programs where the system has a
/// call for that; elsewhere as accept(2) has it. Not accept4(2) itself, which headers hide from C without _GNU_SOURCE.
static inline int directdns_accept(int listener) {
#if defined(__linux__)
  return (int)syscall(SYS_accept4, listener, (void *)0, (void *)0, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
  return accept(listener, (void *)0, (void *)0);
#endif
}

/// The bytes that were written to a socket and that the other side has not acknowledged (SIOCOUTQ of tcp(7), by its other
/// name; SO_NWRITE); 0 where the system cannot tell.
static inline int directdns_unsent(int socket) {
  int count = 0;
#if defined(__linux__)
  if (ioctl(socket, TIOCOUTQ, &count) != 0) return 0;
#elif defined(SO_NWRITE)
  socklen_t size = sizeof count;
  if (getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size) != 0) return 0;
#endif
  return count;
}

/// Sets how long the kernel waits for an acknowledgement of what was sent before it ends the connection (tcp(7)); 0 stands
/// for as long as the system does.
static inline void directdns_limit_silence(int socket, unsigned int milliseconds) {
#if defined(TCP_USER_TIMEOUT)
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
#elif defined(TCP_RXT_CONNDROPTIME)
  int seconds = (int)((milliseconds + 999) / 1000);
  (void)setsockopt(socket, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, &seconds, sizeof seconds);
#endif
}
