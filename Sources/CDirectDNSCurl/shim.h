// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#ifdef __linux__
#include <openssl/ssl.h>
#endif
#include <poll.h>
#include <string.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// libcurl's setters and getters are variadic, which Swift cannot call: one typed form per kind of argument.

#pragma clang assume_nonnull begin

// How many files this process may have open by now, connections among them.
static inline long directdns_file_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < LONG_MAX ? (long)limit.rlim_cur : LONG_MAX;
}

typedef size_t (*directdns_write_callback)(char *bytes, size_t size, size_t count, void *_Nullable context);

static inline CURLcode directdns_setopt_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode directdns_setopt_string(CURL *easy, CURLoption option, const char *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode directdns_setopt_pointer(CURL *easy, CURLoption option, const void *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode directdns_setopt_list(CURL *easy, CURLoption option, struct curl_slist *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}
static inline void directdns_setopt_write(CURL *easy, void *context, directdns_write_callback callback) {
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
}
static inline void directdns_setopt_header(CURL *easy, void *context, directdns_write_callback callback) {
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
}
typedef size_t (*directdns_read_callback)(char *room, size_t size, size_t count, void *_Nullable context);
typedef int (*directdns_seek_callback)(void *_Nullable context, curl_off_t offset, int origin);
static inline void directdns_setopt_read(
    CURL *easy, directdns_read_callback read, directdns_seek_callback seek, void *context) {
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
  curl_easy_setopt(easy, CURLOPT_READDATA, context);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
}
typedef int (*directdns_progress_callback)(
    void *_Nullable context, curl_off_t expected, curl_off_t received, curl_off_t to_send, curl_off_t sent);
static inline void directdns_setopt_progress(CURL *easy, void *context, directdns_progress_callback callback) {
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}
typedef int (*directdns_connected_callback)(
    void *_Nullable context, char *remote, char *local, int remote_port, int local_port);
static inline void directdns_setopt_connected(CURL *easy, void *context, directdns_connected_callback callback) {
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}
typedef int (*directdns_trailer_callback)(struct curl_slist *_Nullable *_Nonnull list, void *_Nullable context);
static inline void directdns_setopt_trailers(CURL *easy, void *context, directdns_trailer_callback callback) {
  curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, callback);
  curl_easy_setopt(easy, CURLOPT_TRAILERDATA, context);
}
typedef int (*directdns_trace_callback)(
    CURL *easy, curl_infotype type, char *text, size_t size, void *_Nullable context);
static inline void directdns_setopt_trace(CURL *easy, void *context, directdns_trace_callback callback) {
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
  curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context);
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

/// Keeps TLS sessions for all transfers of one thread, so that a new connection to a server that is known is cheaper.
static inline CURLSH *_Nullable directdns_session_share(void) {
  CURLSH *share = curl_share_init();
  if (share) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}
/// libcurl copies the bytes.
static inline CURLcode directdns_setopt_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(easy, option, &blob);
}
static inline CURLcode directdns_getinfo_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode directdns_getinfo_string(CURL *easy, CURLINFO info, const char *_Nullable *_Nonnull value) {
  return curl_easy_getinfo(easy, info, (char **)value);
}
static inline CURLcode directdns_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}
/// The socket of the connection that served a transfer which has ended; `directdns_no_socket` where none is kept.
static inline curl_socket_t directdns_kept_socket(CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : CURL_SOCKET_BAD;
}
#ifdef __linux__
/// The TLS session of a transfer's connection, which is established; NULL without TLS.
static inline const SSL *_Nullable directdns_session(CURL *easy) {
  const struct curl_tlssessioninfo *session = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session ||
      session->backend != CURLSSLBACKEND_OPENSSL)
    return NULL;
  return (const SSL *)session->internals;
}
#endif
/// Whether a transfer's connection, which is established, speaks HTTP/2 by TLS (ALPN); 0 if that is not known, as elsewhere
/// than on Linux, where libcurl may use another library than ours.
static inline int directdns_has_agreed_on_http2(CURL *easy) {
#ifdef __linux__
  const SSL *session = directdns_session(easy);
  const unsigned char *name = NULL;
  unsigned int length = 0;
  if (!session) return 0;
  SSL_get0_alpn_selected(session, &name, &length);
  return length == 2 && memcmp(name, "h2", 2) == 0;
#else
  (void)easy;
  return 0;
#endif
}
/// Whether OpenSSL holds what has come over a transfer's connection, and nobody has read it; 0 elsewhere than on Linux,
/// as above.
static inline int directdns_has_unread(CURL *easy) {
#ifdef __linux__
  const SSL *session = directdns_session(easy);
  return session && SSL_has_pending(session);
#else
  (void)easy;
  return 0;
#endif
}
static inline const curl_version_info_data *_Nullable directdns_curl_version(void) {
  return curl_version_info(CURLVERSION_NOW);
}
/// The server's own certificate as lines of `Name:value`, or NULL; valid until the handle is used again.
static inline const struct curl_slist *_Nullable directdns_leaf_certificate(CURL *easy) {
  struct curl_certinfo *info = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &info) != CURLE_OK || !info || info->num_of_certs < 1) return NULL;
  return info->certinfo[0];
}
static inline CURLcode directdns_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLMcode directdns_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
typedef int (*directdns_watch_callback)(
    CURL *easy, curl_socket_t socket, int what, void *_Nullable context, void *_Nullable known);
typedef int (*directdns_timer_callback)(CURLM *multi, long milliseconds, void *_Nullable context);
static inline void directdns_multi_setopt_events(
    CURLM *multi, directdns_watch_callback watch, directdns_timer_callback timer, void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
static const curl_socket_t directdns_no_socket = CURL_SOCKET_TIMEOUT;
/* CURLE_TOO_LARGE, which libcurl has since 8.6. */
static const CURLcode directdns_too_large = (CURLcode)100;
/// What libcurl would rather not have called, since it costs what all transfers cost: wanted once in a while, as there
/// is nothing in its place.
static inline CURLMcode directdns_multi_act_on_all(CURLM *multi) {
  int running;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  return curl_multi_socket_all(multi, &running);
#pragma clang diagnostic pop
}

/// The value of a response's header field, or NULL; valid until the handle is used again.
static inline const char *_Nullable directdns_header(CURL *easy, const char *name) {
  struct curl_header *header = NULL;
  if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return NULL;
  return header->value;
}

/// Closes a socket when the process starts another program, which libcurl leaves open, and sets how long the kernel waits
/// for an acknowledgement.
///
/// A connection whose bytes nobody acknowledges for so long is dead: without this, an HTTP/2 connection to a host that
/// vanished would swallow every further request, since a timed-out stream does not close it.
static inline void directdns_prepare_socket(curl_socket_t socket, unsigned int milliseconds) {
  (void)fcntl(socket, F_SETFD, FD_CLOEXEC);
#if defined(TCP_USER_TIMEOUT)
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
#elif defined(TCP_RXT_CONNDROPTIME)
  int seconds = (int)((milliseconds + 999) / 1000);
  (void)setsockopt(socket, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, &seconds, sizeof seconds);
#endif
}

/// Has the kernel take only so much more than it has sent: what it keeps counts as sent here, so that a server which
/// reads it slowly would seem to be silent.
static inline void directdns_limit_unsent(curl_socket_t socket, int bytes) {
#if defined(TCP_NOTSENT_LOWAT)
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
#endif
}

/// Keeps back what is written to a socket until it fills a segment, or lets it go (tcp(7)).
static inline void directdns_cork(curl_socket_t socket, int isCorked) {
#if defined(TCP_CORK)
  (void)setsockopt(socket, IPPROTO_TCP, TCP_CORK, &isCorked, sizeof isCorked);
#endif
}
static inline int directdns_close(curl_socket_t socket) { return close(socket); }
/// Ends a connection that libcurl keeps: it sees so when it looks at it next, and closes the socket.
static inline void directdns_end(curl_socket_t socket) { (void)shutdown(socket, SHUT_RDWR); }

/// The same, and drops what has come: it would be there to be read all the same.
static inline void directdns_end_unread(curl_socket_t socket) {
  char bytes[4096];
  directdns_end(socket);
  while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
}

/// Whether the kernel takes more of what a socket is to send.
static inline int directdns_has_room(curl_socket_t socket) {
  struct pollfd watch = {socket, POLLOUT, 0};
  return poll(&watch, 1, 0) == 1 && (watch.revents & POLLOUT) != 0;
}

/// The port of this machine that a socket's connection has; 0 if that cannot be told.
static inline long directdns_local_port(curl_socket_t socket) {
  struct sockaddr_storage place;
  socklen_t size = sizeof place;
  if (getsockname(socket, (struct sockaddr *)&place, &size) != 0) return 0;
  if (place.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&place)->sin_port);
  return place.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&place)->sin6_port) : 0;
}

/// The bytes of a socket address: 4 or 16 of them, or 0 for any other family.
static inline int directdns_address_bytes(const void *place, int family, uint8_t bytes[_Nonnull 16]) {
  if (family == AF_INET) memcpy(bytes, &((const struct sockaddr_in *)place)->sin_addr, 4);
  if (family == AF_INET6) memcpy(bytes, &((const struct sockaddr_in6 *)place)->sin6_addr, 16);
  return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
}

/// Where a socket's connection leads: the address's bytes, as above, and the port; 0 if that cannot be told, as before it
/// is established.
static inline int directdns_peer(curl_socket_t socket, uint8_t bytes[_Nonnull 16], uint16_t *port) {
  struct sockaddr_storage place;
  socklen_t size = sizeof place;
  if (getpeername(socket, (struct sockaddr *)&place, &size) != 0) return 0;
  // The port stands at the same place for both families.
  *port = ntohs(((const struct sockaddr_in *)&place)->sin_port);
  return directdns_address_bytes(&place, place.ss_family, bytes);
}

/// The bytes of the address that is about to be dialled: 4 or 16 of them, or 0 for any other family.
static inline int directdns_dialled_address(const struct curl_sockaddr *address, uint8_t bytes[_Nonnull 16]) {
  return directdns_address_bytes(&address->addr, address->family, bytes);
}
static inline curl_socket_t directdns_socket(const struct curl_sockaddr *address) {
#if defined(SOCK_CLOEXEC)
  return socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
#else
  return socket(address->family, address->socktype, address->protocol);
#endif
}
/// Listens under an abstract name that the kernel picks (unix(7)), so that nobody else knows it.
static inline curl_socket_t directdns_listen_within(char name[_Nonnull 108]) {
#if defined(__linux__)
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  socklen_t size = sizeof address - 1;
  curl_socket_t listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener == CURL_SOCKET_BAD) return listener;
  if (bind(listener, (struct sockaddr *)&address, sizeof address.sun_family) == 0 && listen(listener, 1) == 0 &&
      getsockname(listener, (struct sockaddr *)&address, &size) == 0 && size > offsetof(struct sockaddr_un, sun_path)) {
    strncpy(name, address.sun_path + 1, 107);
    return listener;
  }
  close(listener);
#endif
  return CURL_SOCKET_BAD;
}
/// Accepts a connection, to say nothing on it but that there is nothing to say.
static inline curl_socket_t directdns_accept_silently(curl_socket_t listener) {
  curl_socket_t accepted = accept(listener, NULL, NULL);
  if (accepted != CURL_SOCKET_BAD) (void)shutdown(accepted, SHUT_WR);
  return accepted;
}
typedef curl_socket_t (*directdns_dial_callback)(
    void *_Nullable context, curlsocktype purpose, struct curl_sockaddr *address);
static inline void directdns_setopt_dial(CURL *easy, void *context, directdns_dial_callback callback) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}

typedef int (*directdns_closing_callback)(void *_Nullable context, curl_socket_t socket);
static inline void directdns_setopt_closing(CURL *easy, void *context, directdns_closing_callback closing) {
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closing);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

#pragma clang assume_nonnull end
