// SPDX-License-Identifier: Apache-2.0
/* The floor under a `Cookie` field: a table by host, a check of each of its cookies, their text in a buffer.

     cookies [-n REPETITIONS]

   The jar has 3 000 cookies, three for each of 1 000 hosts, and is only read. Domains above the host are not asked,
   nothing is sorted, nothing is noted as used. Prints `ns_per_op=NANOSECONDS`: the median of nine passes.  */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "passes.h"

enum { HOSTS = 1000, SLOTS = 2048, ASKED = 64 };

struct cookie {
  char name[16], value[32], path[16];
  long expires;
  int is_secure;
};
struct host {
  char name[32];
  struct cookie cookies[3];
};

static struct host *slots[SLOTS];

static uint64_t hash_of(const char *text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
  return hash;
}

static struct host **slot_of(const char *name) {
  uint64_t index = hash_of(name) % SLOTS;
  while (slots[index] && strcmp(slots[index]->name, name)) index = (index + 1) % SLOTS;
  return &slots[index];
}

static char *copy(char *out, const char *text) {
  size_t length = strlen(text);
  memcpy(out, text, length);
  return out + length;
}

__attribute__((noinline)) static size_t field(const char *host, const char *path, int is_secure, long when, char *out) {
  const struct host *found = *slot_of(host);
  char *end = out;
  for (int index = 0; found && index < 3; index++) {
    const struct cookie *cookie = &found->cookies[index];
    size_t length = strlen(cookie->path);
    if (cookie->expires <= when || (cookie->is_secure && !is_secure) || strncmp(path, cookie->path, length)) continue;
    if (end > out) end = copy(end, "; ");
    end = copy(copy(copy(end, cookie->name), "="), cookie->value);
  }
  *end = 0;
  return (size_t)(end - out);
}

int main(int argc, char **argv) {
  long repetitions = 200000;
  for (int option; (option = getopt(argc, argv, "n:")) > 0;) {
    if (option != 'n') return 64;
    repetitions = atol(optarg);
  }
  if (repetitions < 1) return 64;
  long when = (long)time(NULL);
  const char *names[] = {"session", "theme", "id"};
  for (int index = 0; index < HOSTS; index++) {
    struct host *host = calloc(1, sizeof *host);
    if (!host) return 1;
    snprintf(host->name, sizeof host->name, "host-%03d.example", index);
    for (int place = 0; place < 3; place++) {
      struct cookie *cookie = &host->cookies[place];
      strcpy(cookie->name, names[place]);
      snprintf(cookie->value, sizeof cookie->value, "0123456789abcdef%d", 1000 + index);
      strcpy(cookie->path, "/");
      cookie->expires = when + 86400;
      cookie->is_secure = 1;
    }
    *slot_of(host->name) = host;
  }
  char asked[ASKED][32];
  for (int index = 0; index < ASKED; index++) snprintf(asked[index], sizeof *asked, "host-%03d.example", index * 15);

  double passes[PASSES];
  size_t expected = strlen("session=; theme=; id=") + 3 * 20;
  for (int pass = 0; pass < PASSES; pass++) {
    size_t sum = 0;
    double began = now();
    for (long index = 0; index < repetitions; index++) {
      char out[256];
      sum += field(asked[index % ASKED], "/a/b", 1, when, out);
    }
    passes[pass] = (now() - began) / (double)repetitions * 1e9;
    if (sum != expected * (size_t)repetitions) return 1;
  }
  printf("ns_per_op=%.2f\n", median(passes));
  return 0;
}
