// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

static inline struct timeval directdns_redis_time(long long milliseconds) {
  struct timeval time = {.tv_sec = milliseconds / 1000, .tv_usec = (milliseconds % 1000) * 1000};
  return time;
}

/// hiredis lets programs that the process starts have the connection, which is logged in, and writes without MSG_NOSIGNAL: a
/// server that has gone would end the process by SIGPIPE.
static inline void directdns_redis_prepare(redisContext *connection) {
  (void)fcntl(connection->fd, F_SETFD, FD_CLOEXEC);
#if defined(SO_NOSIGPIPE)
  int on = 1;
  (void)setsockopt(connection->fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

/// What a thread thought of SIGPIPE before.
struct directdns_sigpipe {
  sigset_t before;
  int was_pending;
};

/// Holds back the SIGPIPE that writing may raise on this thread: hiredis and OpenSSL write without MSG_NOSIGNAL, and the thread may
/// be one of the application's.
static inline struct directdns_sigpipe directdns_sigpipe_hold(void) {
  struct directdns_sigpipe held = {0};
#if !defined(SO_NOSIGPIPE)
  sigset_t pipe, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  held.was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &held.before);
#endif
  return held;
}

/// Ends that; where writing has failed, the signal that it may have raised is taken. errno stays.
static inline void directdns_sigpipe_release(struct directdns_sigpipe held, int failed) {
#if !defined(SO_NOSIGPIPE)
  const int code = errno;
  if (failed && !held.was_pending) {
    const struct timespec none = {0, 0};
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &held.before, NULL);
  errno = code;
#endif
}

/// Whether nothing has come on a connection, be it its end.
static inline int directdns_redis_is_quiet(const redisContext *connection) {
  struct pollfd watch = {.fd = connection->fd, .events = POLLIN};
  return poll(&watch, 1, 0) == 0;
}

/// Sends what was appended.
static inline int directdns_redis_send(redisContext *connection) {
  int status, done = 0;
  struct directdns_sigpipe held = directdns_sigpipe_hold();
  do status = redisBufferWrite(connection, &done);
  while (status == REDIS_OK && !done);
  directdns_sigpipe_release(held, status != REDIS_OK);
  return status;
}

/// The address at the other end, as text; empty where there is none.
static inline void directdns_redis_peer(redisContext *connection, char *text, socklen_t size) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  text[0] = 0;
  if (getpeername(connection->fd, (struct sockaddr *)&peer, &length) != 0) return;
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return;
  if (getnameinfo((struct sockaddr *)&peer, length, text, size, NULL, 0, NI_NUMERICHOST) != 0) text[0] = 0;
}

/// Whether the server let SO_RCVTIMEO or the time for connecting run out.
static inline int directdns_redis_timed_out(redisContext *connection) {
#if defined(REDIS_ERR_TIMEOUT)
  // That of the kernel, since hiredis 1.0.
  if (connection->err == REDIS_ERR_TIMEOUT) return 1;
#endif
  return connection->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETIMEDOUT);
}

static inline const char *directdns_redis_error(redisContext *connection) { return connection->errstr; }

/// OpenSSL writes not only where it is told to: reading may answer, with an alert or a new key.
///
/// A handshake waits so many milliseconds each time, and so many in all: a server that sends it by single bytes would never end
/// it.
static inline int directdns_tls_connect(SSL *tls, int socket, int each, int all) {
  struct directdns_sigpipe held = directdns_sigpipe_hold();
  const int flags = fcntl(socket, F_GETFL);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long end = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + all;
  int status = -1;
  // A socket that blocks would wait without end for a server that is silent.
  const int waits_in_poll = flags >= 0 && fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0;
  while (waits_in_poll && (status = SSL_connect(tls)) != 1) {
    const int error = SSL_get_error(tls, status);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) break;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long left = end - (now.tv_sec * 1000LL + now.tv_nsec / 1000000);
    if (left <= 0) break;
    struct pollfd wanted = {.fd = socket, .events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT};
    const int found = poll(&wanted, 1, left < each ? (int)left : each);
    if (found == 0 || (found < 0 && errno != EINTR)) break;
  }
  if (waits_in_poll) (void)fcntl(socket, F_SETFL, flags);
  directdns_sigpipe_release(held, status != 1);
  return status;
}
static inline int directdns_tls_write(SSL *tls, const void *bytes, size_t count, size_t *written) {
  struct directdns_sigpipe held = directdns_sigpipe_hold();
  const int status = SSL_write_ex(tls, bytes, count, written);
  directdns_sigpipe_release(held, status != 1);
  return status;
}
static inline int directdns_tls_read(SSL *tls, void *bytes, int count) {
  struct directdns_sigpipe held = directdns_sigpipe_hold();
  const int status = SSL_read(tls, bytes, count);
  directdns_sigpipe_release(held, status <= 0);
  return status;
}

/// A password of nothing for keys that have one: OpenSSL would ask for it at the terminal, or take a line of standard input for
/// it.
static inline void directdns_tls_ask_nobody(SSL_CTX *context) {
  SSL_CTX_set_default_passwd_cb_userdata(context, (void *)"");
}

/// Macros all of them.
static inline int directdns_tls_at_least_1_2(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
static inline int directdns_tls_name(SSL *tls, const char *name) { return SSL_set_tlsext_host_name(tls, name); }
static inline const char *directdns_tls_reason(unsigned long error) {
  const char *reason = ERR_reason_error_string(error);
  return reason != NULL ? reason : "the connection broke";
}
