// SPDX-License-Identifier: Apache-2.0
/* What a forward proxy costs its clients: the same requests sent directly and through one, so many at once.

     proxy-load -o ORIGIN-PORT [-p PROXY-PORT] [-m connect|tunnel|plain] [-u PATH] [-s BODY-BYTES] [-c CONNECTIONS]
                [-n COUNT] [-w WARM-UP] [-N SUFFIX] [-i IDLE -q SILENT-PORT -P PROXY-PID]

   Servers are on 127.0.0.1; with `connect` each connection takes the next of 16 loopback addresses for both its ends, the
   origin has to listen at all of them: connections that are closed keep their pair of ports for a minute. Without `-p` requests go to the origin itself. `connect` opens a connection, and a tunnel
   through it, for every request; `tunnel` sends all of a connection's requests through one tunnel; `plain` sends them
   in absolute form. With `-N` each tunnel is to a name below that one, which nobody has asked for before. With `-i` so many tunnels to a server that says nothing are held meanwhile. Prints
   `rate=PER-SECOND us=MEDIAN-OF-ONE`, and with `-i` `bytes_per_idle=N`, by what the proxy's memory has grown. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum mode { CONNECT, TUNNEL, PLAIN };
/* A head is awaited, the one that opens a tunnel or a response's, or the rest of a body. */
enum state { OPENING, HEAD, BODY };

struct connection {
  int socket;
  enum state state;
  char head[4096];
  size_t head_size, body_left;
  double began;
};

static enum mode mode = TUNNEL;
static uint16_t origin_port, proxy_port, silent_port;
static size_t body_size = 1024;
static char request[512];
static const char *suffix;
static long started, ended, total = 20000, warm_up;
static double wall_began, *times;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what) {
  fprintf(stderr, "proxy-load: %s: %s\n", what, errno ? strerror(errno) : "not what was expected");
  exit(1);
}

enum { ADDRESSES = 16 };

/* The last byte of the loopback address that is this connection's. */
static unsigned place(void) { return mode == CONNECT ? 1 + (unsigned)(started % ADDRESSES) : 1; }

static int open_socket(uint16_t port) {
  int one = 1, opened = socket(AF_INET, SOCK_STREAM, 0);
  /* The proxy has one address, and clients have many; without it the origin has many. */
  unsigned origin = proxy_port ? 1 : place();
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + place())};
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + origin)};
  if (opened < 0) fail("socket");
#ifdef IP_BIND_ADDRESS_NO_PORT
  setsockopt(opened, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
#endif
  if (bind(opened, (struct sockaddr *)&own, sizeof own) != 0) fail("bind");
  if (connect(opened, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return opened;
}

/* What is sent is short: a socket's buffer takes all of it at once. */
static void say(int to, const char *text) {
  size_t size = strlen(text);
  if (send(to, text, size, MSG_NOSIGNAL) != (ssize_t)size) fail("send");
}

static void ask(struct connection *connection) {
  connection->state = HEAD;
  connection->head_size = 0;
  say(connection->socket, request);
}

/* Asks the proxy for a tunnel. */
static void open_tunnel(int to, unsigned last, uint16_t port) {
  char text[512];
  if (suffix) {
    /* Other runs had other names: the proxy remembers theirs. */
    snprintf(text, sizeof text, "CONNECT n%ld-%d.%s:%u HTTP/1.1\r\nHost: %s:%u\r\n\r\n", started, (int)getpid(), suffix, port,
             suffix, port);
    return say(to, text);
  }
  snprintf(text, sizeof text, "CONNECT 127.0.0.%u:%u HTTP/1.1\r\nHost: 127.0.0.%u:%u\r\n\r\n", last, port, last, port);
  say(to, text);
}

static void begin(struct connection *connection) {
  started++;
  connection->began = now();
  if (connection->socket >= 0) return ask(connection);
  connection->socket = open_socket(proxy_port ? proxy_port : origin_port);
  if (!proxy_port || mode == PLAIN) return ask(connection);
  connection->state = OPENING;
  connection->head_size = 0;
  open_tunnel(connection->socket, place(), origin_port);
}

static void finish(struct connection *connection) {
  times[ended++] = now() - connection->began;
  if (ended == warm_up) wall_began = now();
  if (mode == CONNECT) {
    close(connection->socket);
    connection->socket = -1;
  }
  if (started < warm_up + total) begin(connection);
}

/* A response's body comes behind its head; what opens a tunnel has none. */
static void head_came(struct connection *connection, char *end) {
  size_t rest = connection->head_size - (size_t)(end - connection->head);
  if (strncmp(connection->head, "HTTP/1.", 7) != 0 || strncmp(connection->head + 8, " 200", 4) != 0) {
    fprintf(stderr, "proxy-load: %.*s\n", (int)strcspn(connection->head, "\r"), connection->head);
    exit(1);
  }
  if (connection->state == OPENING) return ask(connection);
  connection->state = BODY;
  connection->body_left = body_size - rest;
  if (rest > body_size) fail("a body");
  if (rest == body_size) finish(connection);
}

static void receive(struct connection *connection) {
  static char bytes[1 << 18];
  if (connection->state == BODY) {
    ssize_t count = recv(connection->socket, bytes, sizeof bytes, 0);
    if (count <= 0 || (size_t)count > connection->body_left) fail("a body");
    connection->body_left -= (size_t)count;
    if (connection->body_left == 0) finish(connection);
    return;
  }
  ssize_t count = recv(connection->socket, connection->head + connection->head_size,
                       sizeof connection->head - 1 - connection->head_size, 0);
  if (count <= 0) fail("a head");
  connection->head_size += (size_t)count;
  connection->head[connection->head_size] = 0;
  char *end = strstr(connection->head, "\r\n\r\n");
  if (end) head_came(connection, end + 4);
}

/* Tunnels that nothing is sent through. */
static void hold(long count) {
  char answer[512];
  for (long index = 0; index < count; index++) {
    int held = open_socket(proxy_port);
    open_tunnel(held, 1, silent_port);
    ssize_t size = recv(held, answer, sizeof answer, 0);
    if (size < 12 || strncmp(answer + 8, " 200", 4) != 0) fail("a tunnel");
  }
}

/* The memory of a process, in KB. */
static long memory(const char *process) {
  char path[64], line[256];
  long size = -1;
  snprintf(path, sizeof path, "/proc/%s/status", process);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmRSS: %ld", &size) == 1) break;
  if (file) fclose(file);
  if (size < 0) fail(path);
  return size;
}

static int by_time(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return (difference > 0) - (difference < 0);
}

int main(int count, char **arguments) {
  const char *path = "/small", *process = NULL;
  long connections = 1, idle = 0, grown = 0;
  for (int option; (option = getopt(count, arguments, "o:p:m:u:s:c:n:w:N:i:q:P:")) != -1;) {
    switch (option) {
      case 'o': origin_port = (uint16_t)atoi(optarg); break;
      case 'p': proxy_port = (uint16_t)atoi(optarg); break;
      case 'q': silent_port = (uint16_t)atoi(optarg); break;
      case 'u': path = optarg; break;
      case 's': body_size = (size_t)atol(optarg); break;
      case 'c': connections = atol(optarg); break;
      case 'n': total = atol(optarg); break;
      case 'w': warm_up = atol(optarg); break;
      case 'N': suffix = optarg; break;
      case 'i': idle = atol(optarg); break;
      case 'P': process = optarg; break;
      case 'm': mode = *optarg == 'c' ? CONNECT : *optarg == 'p' ? PLAIN : TUNNEL; break;
      default: return 64;
    }
  }
  if (!origin_port || connections < 1 || total < 1 || (idle && (!proxy_port || !silent_port || !process))) return 64;

  char start[64] = "";
  if (proxy_port && mode == PLAIN) snprintf(start, sizeof start, "http://127.0.0.1:%u", origin_port);
  snprintf(request, sizeof request, "GET %s%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAccept: */*\r\n\r\n", start, path,
           origin_port);

  if (idle) {
    /* What the proxy takes once, for its first tunnels, is not theirs. */
    hold(100);
    grown = memory(process);
    hold(idle);
    grown = memory(process) - grown;
  }

  times = malloc(sizeof *times * (size_t)(warm_up + total));
  struct connection *all = calloc((size_t)connections, sizeof *all);
  struct pollfd *watched = calloc((size_t)connections, sizeof *watched);
  if (!times || !all || !watched) fail("memory");
  wall_began = now();
  for (long index = 0; index < connections; index++) {
    all[index].socket = -1;
    if (started < warm_up + total) begin(&all[index]);
  }
  while (ended < warm_up + total) {
    for (long index = 0; index < connections; index++)
      watched[index] = (struct pollfd){.fd = all[index].socket, .events = POLLIN};
    if (poll(watched, (nfds_t)connections, 30000) <= 0) fail("nothing came for 30 seconds");
    for (long index = 0; index < connections; index++)
      if (watched[index].revents) receive(&all[index]);
  }
  double wall = now() - wall_began;
  qsort(times + warm_up, (size_t)total, sizeof *times, by_time);
  printf("rate=%.1f us=%.1f", (double)total / wall, times[warm_up + total / 2] * 1e6);
  if (idle) printf(" bytes_per_idle=%.0f", (double)grown * 1024 / (double)idle);
  printf("\n");
  return 0;
}
