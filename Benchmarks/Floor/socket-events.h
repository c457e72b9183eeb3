// SPDX-License-Identifier: Apache-2.0
/* The sockets and timers of libcurl's multi handles, watched by one epoll descriptor: a step costs what the ready
   sockets cost, however many others there are. */
#include <curl/curl.h>
#ifdef __linux__
#include <sys/epoll.h>
#include <time.h>

enum { SOCKET_EVENTS_AT_ONCE = 256, SOCKET_EVENTS_MULTIS = 2 };

static int socket_events = -1;
/* When each handle wants to be called, in milliseconds; -1: not at all. */
static struct socket_events_multi {
  CURLM *multi;
  long due;
} socket_events_multis[SOCKET_EVENTS_MULTIS];
static uint32_t socket_events_count;

static long socket_events_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int socket_events_changed(CURL *curl, curl_socket_t socket, int what, void *context, void *known) {
  (void)curl;
  struct socket_events_multi *watched = context;
  uint64_t index = (uint64_t)(watched - socket_events_multis);
  struct epoll_event event = {.data.u64 = index << 32 | (uint32_t)socket};
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(socket_events, EPOLL_CTL_DEL, socket, NULL);
    return 0;
  }
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  epoll_ctl(socket_events, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  if (!known) curl_multi_assign(watched->multi, socket, watched);
  return 0;
}

static int socket_events_timer(CURLM *multi, long milliseconds, void *context) {
  (void)multi;
  struct socket_events_multi *watched = context;
  watched->due = milliseconds < 0 ? -1 : milliseconds == 0 ? 0 : socket_events_now() + milliseconds;
  return 0;
}

/* Before the handle's first transfer is added. */
static void socket_events_watch(CURLM *multi) {
  if (socket_events < 0) socket_events = epoll_create1(0);
  struct socket_events_multi *watched = &socket_events_multis[socket_events_count++];
  *watched = (struct socket_events_multi){multi, -1};
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_events_changed);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, watched);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, socket_events_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, watched);
}

/* Milliseconds until a handle wants to be called; -1: none does. */
static int socket_events_left(void) {
  long left = -1;
  for (uint32_t index = 0; index < socket_events_count; index++) {
    long due = socket_events_multis[index].due;
    if (due < 0) continue;
    long own = due == 0 ? 0 : due - socket_events_now();
    if (own < 0) own = 0;
    if (left < 0 || own < left) left = own;
  }
  return (int)left;
}

/* Waits for what comes first, a socket or a time that libcurl named, and has it act on that. */
static void socket_events_run(void) {
  struct epoll_event events[SOCKET_EVENTS_AT_ONCE];
  int running, count = epoll_wait(socket_events, events, SOCKET_EVENTS_AT_ONCE, socket_events_left());
  for (int index = 0; index < count; index++) {
    uint32_t ready = events[index].events;
    int what = (ready & EPOLLIN ? CURL_CSELECT_IN : 0) | (ready & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (ready & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    CURLM *multi = socket_events_multis[events[index].data.u64 >> 32].multi;
    curl_multi_socket_action(multi, (int)(uint32_t)events[index].data.u64, what, &running);
  }
  for (uint32_t index = 0; index < socket_events_count; index++) {
    struct socket_events_multi *watched = &socket_events_multis[index];
    if (watched->due < 0 || (watched->due > 0 && watched->due > socket_events_now())) continue;
    watched->due = -1;
    curl_multi_socket_action(watched->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}
#else
#include <stdio.h>
#include <stdlib.h>

static void socket_events_watch(CURLM *multi) {
  (void)multi;
  fputs("epoll is Linux's\n", stderr);
  exit(69);
}

static void socket_events_run(void) {}
#endif
