#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

// libcurl's setters and getters are variadic, which Swift cannot call: one typed form per kind of argument.

#pragma clang assume_nonnull begin

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
static inline CURLcode directdns_setopt_write(CURL *easy, directdns_write_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
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
static inline CURLMcode directdns_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// The value of a response's header field, or NULL; valid until the handle is used again.
static inline const char *_Nullable directdns_header(CURL *easy, const char *name) {
  struct curl_header *header = NULL;
  if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return NULL;
  return header->value;
}

/// A connection whose bytes nobody acknowledges for three seconds is dead: without this, an HTTP/2 connection
/// to a host that vanished would swallow every further query, since a timed-out stream does not close it.
static inline void directdns_prepare_socket(curl_socket_t socket) {
#if defined(TCP_USER_TIMEOUT)
  unsigned int milliseconds = 3000;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
#elif defined(TCP_RXT_CONNDROPTIME)
  int seconds = 3;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, &seconds, sizeof seconds);
#endif
}

/// Keeps back what is written to a socket until it fills a segment, or lets it go (tcp(7)).
static inline void directdns_cork(curl_socket_t socket, int isCorked) {
#if defined(TCP_CORK)
  (void)setsockopt(socket, IPPROTO_TCP, TCP_CORK, &isCorked, sizeof isCorked);
#endif
}
static inline int directdns_close(curl_socket_t socket) { return close(socket); }

typedef int (*directdns_opened_callback)(void *_Nullable context, curl_socket_t socket, curlsocktype purpose);
typedef int (*directdns_closing_callback)(void *_Nullable context, curl_socket_t socket);

static inline void directdns_setopt_sockets(
    CURL *easy, directdns_opened_callback opened, directdns_closing_callback closing, void *context) {
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, opened);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closing);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

#pragma clang assume_nonnull end
