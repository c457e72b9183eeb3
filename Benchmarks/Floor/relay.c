// SPDX-License-Identifier: Apache-2.0
/* The floor under a proxy: CONNECT to an IPv4 address, and bytes both ways, by as few system calls as that takes.

     relay PORT

   It listens on 127.0.0.1, on one thread. It judges nothing, looks nothing up, holds nothing back for those who cannot
   take more, and has no time limits: what a proxy costs beyond it is the proxy's own. What it does not expect ends it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/epoll.h>

enum { ENDS = 1 << 16 };
/* A client's head is awaited, or that its origin is there; an origin is connected to; bytes are passed on. */
enum state { HEAD, WAITING, CONNECTING, PASSING };

/* One end of a tunnel, by its descriptor. */
static struct end {
  enum state state;
  int other;
} ends[ENDS];
static int events;

static void fail(const char *what) {
  fprintf(stderr, "relay: %s: %s\n", what, errno ? strerror(errno) : "not what was expected");
  exit(1);
}

static void watch(int operation, int socket, uint32_t what) {
  struct epoll_event event = {.events = what, .data.fd = socket};
  if (epoll_ctl(events, operation, socket, &event)) fail("epoll_ctl");
}

static void add(int socket, enum state state, int other) {
  int one = 1;
  if (socket >= ENDS) fail("too many connections");
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ends[socket] = (struct end){state, other};
  watch(EPOLL_CTL_ADD, socket, state == CONNECTING ? EPOLLOUT : EPOLLIN);
}

static void send_all(int socket, const void *bytes, size_t size) {
  ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
  if (sent >= 0 && (size_t)sent < size) fail("a peer that does not read");
}

static void open_tunnel(int client, const char *head) {
  char text[64];
  unsigned port;
  struct sockaddr_in origin = {.sin_family = AF_INET};
  errno = 0;
  if (sscanf(head, "CONNECT %63[0-9.]:%u ", text, &port) != 2) fail("CONNECT");
  if (inet_pton(AF_INET, text, &origin.sin_addr) != 1) fail("CONNECT");
  origin.sin_port = htons((uint16_t)port);
  int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (server < 0) fail("socket");
  if (connect(server, (struct sockaddr *)&origin, sizeof origin) && errno != EINPROGRESS) fail("connect");
  add(server, CONNECTING, client);
  ends[client] = (struct end){WAITING, server};
}

static void established(int server) {
  static const char answer[] = "HTTP/1.1 200 Connection established\r\n\r\n";
  int client = ends[server].other, error = 0;
  socklen_t size = sizeof error;
  getsockopt(server, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  if (error) fail("connect");
  ends[server].state = ends[client].state = PASSING;
  send_all(client, answer, sizeof answer - 1);
  watch(EPOLL_CTL_MOD, server, EPOLLIN);
}

static void readable(int socket) {
  static char bytes[1 << 16];
  struct end *end = &ends[socket];
  ssize_t size = recv(socket, bytes, sizeof bytes - 1, 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) {
    if (end->state != HEAD) close(end->other);
    close(socket);
  } else if (end->state == HEAD) {
    bytes[size] = 0;
    open_tunnel(socket, bytes);
  } else {
    send_all(end->other, bytes, (size_t)size);
  }
}

int main(int count, char **arguments) {
  int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (count != 2) {
    fputs("usage: relay PORT\n", stderr);
    return 64;
  }
  place.sin_port = htons((uint16_t)atoi(arguments[1]));
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 1024)) fail("listen");
  events = epoll_create1(0);
  watch(EPOLL_CTL_ADD, listener, EPOLLIN);
  /* One event at a time: no other one of the same call can be about a descriptor that was closed meanwhile. */
  for (struct epoll_event event;;) {
    if (epoll_wait(events, &event, 1, -1) != 1) continue;
    if (event.data.fd == listener) {
      int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
      if (client >= 0) add(client, HEAD, -1);
    } else if (ends[event.data.fd].state == CONNECTING) {
      established(event.data.fd);
    } else {
      readable(event.data.fd);
    }
  }
}
#else
int main(void) {
  fputs("epoll is Linux's\n", stderr);
  return 69;
}
#endif
