// SPDX-License-Identifier: Apache-2.0
/* The floor under many transfers: libcurl's multi interface, polled, with so many in flight and no more.

     transfers -k get|post|json|body -u URL -r HOST:PORT:ADDRESS -a CA-FILE [-f NAMES] [-n COUNT] [-w WARM-UP]
               [-c IN-FLIGHT] [-C CONNECTIONS] [-S STREAMS] [-1] [-s BODY-BYTES] [-i IDLE -I SILENT-URL] [-e]

   `get`, `post` and `json` look up the names of the file, one a line, in turn; `body` fetches the URL as it
   is, and expects so many bytes. `-S` is the most streams of one connection, `-1` keeps to HTTP/1.1. With `-i`
   so many transfers from another server are under way all the time, which never answers. `-e` watches the sockets
   with epoll instead of polling all of them, and keeps those that wait apart. Transfers of the warm-up are not counted. Prints
   `rate=PER-SECOND ms=ALL cpu_us=PER-TRANSFER connections=N failed=N`; a failed transfer is an exit status of 1.    */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "dns-message.h"
#include "socket-events.h"

enum kind { GET, POST, JSON, BODY };

struct transfer {
  CURL *curl;
  uint8_t query[DNS_QUERY_MAX];
  char url[800];
  char reply[4096];
  size_t reply_size, received;
};

static enum kind kind = GET;
static const char *base_url;
static char **names;
static size_t name_count;
static CURLM *multi;
static size_t body_size;
static long started, ended, failed, connections, warm_up, total, held;
static double wall_began, cpu_began;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A long body is counted as received and forgotten; what is read afterwards is short. */
static size_t receive(char *bytes, size_t unit, size_t count, void *context) {
  struct transfer *transfer = context;
  size_t size = unit * count;
  if (transfer->reply_size + size < sizeof transfer->reply) {
    memcpy(transfer->reply + transfer->reply_size, bytes, size);
    transfer->reply_size += size;
  }
  transfer->received += size;
  return size;
}

/* base64url without padding (RFC 4648 §5), as the `dns` parameter has it. */
static void append_base64url(char *text, const uint8_t *bytes, size_t size) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (size_t at = 0; at < size; at += 3) {
    size_t left = size - at;
    uint32_t group = (uint32_t)bytes[at] << 16;
    if (left > 1) group |= (uint32_t)bytes[at + 1] << 8;
    if (left > 2) group |= bytes[at + 2];
    *text++ = alphabet[group >> 18];
    *text++ = alphabet[group >> 12 & 63];
    if (left > 1) *text++ = alphabet[group >> 6 & 63];
    if (left > 2) *text++ = alphabet[group & 63];
  }
  *text = 0;
}

static void start(struct transfer *transfer) {
  const char *name = name_count ? names[(size_t)started % name_count] : "www.lab.test";
  transfer->reply_size = transfer->received = 0;
  started++;
  switch (kind) {
    case GET: {
      size_t size = dns_query(transfer->query, name);
      int length = snprintf(transfer->url, sizeof transfer->url, "%s?dns=", base_url);
      append_base64url(transfer->url + length, transfer->query, size);
      curl_easy_setopt(transfer->curl, CURLOPT_URL, transfer->url);
      break;
    }
    case POST: {
      size_t size = dns_query(transfer->query, name);
      curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDSIZE, (long)size);
      break;
    }
    case JSON:
      snprintf(transfer->url, sizeof transfer->url, "%s?name=%s&type=A", base_url, name);
      curl_easy_setopt(transfer->curl, CURLOPT_URL, transfer->url);
      break;
    case BODY: break;
  }
  curl_multi_add_handle(multi, transfer->curl);
}

static int is_answered(struct transfer *transfer) {
  uint8_t address[4];
  uint32_t ttl;
  switch (kind) {
    case GET:
    case POST:
      return dns_first_address((const uint8_t *)transfer->reply, transfer->reply_size, address, &ttl) > 0;
    case JSON:
      transfer->reply[transfer->reply_size] = 0;
      return strstr(transfer->reply, "\"data\":\"") != NULL;
    case BODY: return transfer->received == body_size;
  }
  return 0;
}

static void collect(void) {
  CURLMsg *message;
  for (int left; (message = curl_multi_info_read(multi, &left));) {
    if (message->msg != CURLMSG_DONE) continue;
    struct transfer *transfer;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
    CURLcode status = message->data.result;
    if (!transfer) {
      fprintf(stderr, "an idle transfer ended: %s\n", curl_easy_strerror(status));
      exit(1);
    }
    long opened = 0;
    curl_easy_getinfo(transfer->curl, CURLINFO_NUM_CONNECTS, &opened);
    connections += opened;
    if (status != CURLE_OK && failed == 0) fprintf(stderr, "%s\n", curl_easy_strerror(status));
    if (status != CURLE_OK || !is_answered(transfer)) failed++;
    curl_multi_remove_handle(multi, transfer->curl);
    if (++ended == warm_up) {
      wall_began = now(CLOCK_MONOTONIC);
      cpu_began = now(CLOCK_PROCESS_CPUTIME_ID);
    }
    if (started < total) start(transfer);
  }
}

static void read_names(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(66);
  }
  size_t room = 0;
  for (char line[300]; fgets(line, sizeof line, file);) {
    line[strcspn(line, "\n")] = 0;
    if (name_count == room) names = realloc(names, (room = room ? room * 2 : 1024) * sizeof *names);
    names[name_count++] = strdup(line);
  }
  fclose(file);
}

/* A step: what is ready is done, and where nothing is, it is waited for. */
static void step(int is_epoll) {
  if (is_epoll) {
    socket_events_run();
    collect();
    return;
  }
  int running;
  curl_multi_perform(multi, &running);
  collect();
  if (ended < total) curl_multi_poll(multi, NULL, 0, 1000, NULL);
}

static CURL *silent_transfer(const char *base, const char *path) {
  char url[300];
  snprintf(url, sizeof url, "%s%s", base, path);
  CURL *curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  return curl;
}

/* Until the silent server holds so many: none that an earlier program left, then all of ours. */
static void wait_for_held(const char *base, long count) {
  struct transfer transfer;
  CURL *curl = silent_transfer(base, "/held");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  for (long number = -1; number != count; number = atol(transfer.reply)) {
    if (number >= 0) usleep(10000);
    memset(&transfer, 0, sizeof transfer);
    if (curl_easy_perform(curl) != CURLE_OK) exit(1);
  }
  curl_easy_cleanup(curl);
}

/* Connected, and the request goes out. */
static int begins_to_wait(void *context, char *address, char *own_address, int port, int own_port) {
  (void)context, (void)address, (void)own_address, (void)port, (void)own_port;
  held++;
  return CURL_PREREQFUNC_OK;
}

static void hold(const char *base, long count, int is_epoll) {
  if (count == 0) return;
  CURLM *waiting = multi;
  if (is_epoll) {
    /* In libcurl 7.88 a transfer that is removed looks for its connection among all that its handle has
       (close_connect_only in multi.c): the slow server's are another handle's. */
    waiting = curl_multi_init();
    socket_events_watch(waiting);
    curl_multi_setopt(waiting, CURLMOPT_MAXCONNECTS, count);
  }
  wait_for_held(base, 0);
  for (long index = 0; index < count; index++) {
    CURL *curl = silent_transfer(base, "/wait");
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, begins_to_wait);
    curl_multi_add_handle(waiting, curl);
  }
  while (held < count) step(is_epoll);
  wait_for_held(base, count);
}

int main(int argc, char **argv) {
  const char *resolve = NULL, *ca_file = NULL, *silent_url = NULL;
  long in_flight = 64, connection_limit = 1, stream_limit = 0, idle = 0, version = CURL_HTTP_VERSION_2TLS;
  int is_epoll = 0;
  total = 1000;
  for (int option; (option = getopt(argc, argv, "k:u:r:a:f:n:w:c:C:S:s:i:I:e1")) > 0;) {
    switch (option) {
      case 'k':
        kind = !strcmp(optarg, "get") ? GET : !strcmp(optarg, "post") ? POST : !strcmp(optarg, "json") ? JSON : BODY;
        break;
      case 'u': base_url = optarg; break;
      case 'r': resolve = optarg; break;
      case 'a': ca_file = optarg; break;
      case 'f': read_names(optarg); break;
      case 'n': total = atol(optarg); break;
      case 'w': warm_up = atol(optarg); break;
      case 'c': in_flight = atol(optarg); break;
      case 'C': connection_limit = atol(optarg); break;
      case 'S': stream_limit = atol(optarg); break;
      case 's': body_size = (size_t)atol(optarg); break;
      case 'i': idle = atol(optarg); break;
      case 'I': silent_url = optarg; break;
      case 'e': is_epoll = 1; break;
      case '1': version = CURL_HTTP_VERSION_1_1; break;
      default: return 64;
    }
  }
  if (!base_url || (idle && !silent_url)) return 64;
  total += warm_up;

  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  if (is_epoll) socket_events_watch(multi);
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connection_limit > idle ? connection_limit : idle);
  if (stream_limit) curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, stream_limit);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, in_flight + idle + 8);
  struct curl_slist *hosts = resolve ? curl_slist_append(NULL, resolve) : NULL, *fields = NULL;
  if (kind == POST) fields = curl_slist_append(fields, "content-type: application/dns-message");
  if (kind == GET || kind == POST) fields = curl_slist_append(fields, "accept: application/dns-message");

  struct transfer *transfers = calloc((size_t)in_flight, sizeof *transfers);
  for (long index = 0; index < in_flight; index++) {
    CURL *curl = transfers[index].curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_PRIVATE, &transfers[index]);
    curl_easy_setopt(curl, CURLOPT_URL, base_url);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, version);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    /* Without it every transfer that starts before the first connection stands opens one of its own. */
    curl_easy_setopt(curl, CURLOPT_PIPEWAIT, 1L);
    if (ca_file) curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    if (hosts) curl_easy_setopt(curl, CURLOPT_RESOLVE, hosts);
    if (fields) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields);
    if (kind == POST) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, transfers[index].query);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfers[index]);
  }

  hold(silent_url, idle, is_epoll);
  wall_began = now(CLOCK_MONOTONIC);
  cpu_began = now(CLOCK_PROCESS_CPUTIME_ID);
  for (long index = 0; index < in_flight && started < total; index++) start(&transfers[index]);
  while (ended < total) step(is_epoll);

  double wall = now(CLOCK_MONOTONIC) - wall_began, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_began;
  double counted = (double)(total - warm_up);
  printf("rate=%.0f ms=%.3f cpu_us=%.2f connections=%ld failed=%ld\n", counted / wall, wall * 1e3,
         cpu / counted * 1e6, connections, failed);
  return failed != 0;
}
