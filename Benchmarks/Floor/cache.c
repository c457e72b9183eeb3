// SPDX-License-Identifier: Apache-2.0
/* The floor under a cached lookup: an open-addressing table that is only read, without a lock.

     cache [-n NAMES] [-t THREADS] [-l LOOKUPS] [-f PER-FAMILY] [-c]

   Each thread looks up that many names in random order. A name has one IPv4 address, or PER-FAMILY of both families.
   With -c each name is drawn from what the last lookup found, so that no two of them overlap; a lookup then reads
   the clock, checks that the answer has not expired, and copies its addresses out. Prints
   `ns_per_op=NANOSECONDS bytes_per_entry=BYTES`, the time being wall time for each thread's own lookups: on a free
   core each it is what one thread takes.  */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One name and its answer: what a cache has to keep, and no more. */
struct slot {
  uint64_t hash; /* 0: free */
  uint64_t expires;
  uint32_t name_at;
  uint8_t name_length, count4, count6, unused;
  uint32_t addresses[]; /* those of IPv4, then those of IPv6 of four words each */
};

enum { FAMILY_LIMIT = 8 };

/* What a caller gets. */
struct answer {
  uint32_t count4, count6;
  uint32_t addresses4[FAMILY_LIMIT], addresses6[FAMILY_LIMIT * 4];
};

static char *slots;
static size_t slot_size;
static uint32_t count4 = 1, count6;
static int is_chained;
static uint64_t mask;
static char *name_bytes;
static size_t name_bytes_used;
static char **keys;
static long key_count, lookups = 2000000;

static uint64_t fold(uint64_t left, uint64_t right) {
  __uint128_t product = (__uint128_t)left * right;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static uint64_t load(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* Eight bytes a step by one wide multiplication each, after wyhash; never 0. */
static uint64_t hash_of(const char *name, size_t length) {
  uint64_t hash = 0xa0761d6478bd642full ^ length;
  size_t at = 0;
  for (; at + 8 <= length; at += 8) hash = fold(hash ^ load(name + at), 0xe7037ed1a0b428dbull);
  if (at < length) {
    uint64_t rest = 0;
    if (length >= 8) rest = load(name + length - 8);
    else memcpy(&rest, name, length);
    hash = fold(hash ^ rest, 0x8ebc6af09c88c6e3ull);
  }
  return fold(hash, 0x589965cc75374cc3ull) | 1;
}

static struct slot *slot_at(uint64_t index) { return (struct slot *)(slots + index * slot_size); }

static const struct slot *find(const char *name, size_t length) {
  uint64_t hash = hash_of(name, length);
  for (uint64_t index = (hash >> 1) & mask; slot_at(index)->hash; index = (index + 1) & mask) {
    const struct slot *slot = slot_at(index);
    if (slot->hash == hash && slot->name_length == length && !memcmp(name_bytes + slot->name_at, name, length))
      return slot;
  }
  return NULL;
}

static void insert(const char *name, size_t length, uint32_t number) {
  uint64_t hash = hash_of(name, length), index = (hash >> 1) & mask;
  while (slot_at(index)->hash) index = (index + 1) & mask;
  memcpy(name_bytes + name_bytes_used, name, length);
  struct slot *slot = slot_at(index);
  *slot = (struct slot){.hash = hash, .expires = UINT64_MAX, .name_at = (uint32_t)name_bytes_used,
                        .name_length = (uint8_t)length, .count4 = (uint8_t)count4, .count6 = (uint8_t)count6};
  for (uint32_t place = 0; place < count4 + count6 * 4; place++) slot->addresses[place] = 0x7f000000 | number << 3 | place;
  name_bytes_used += length;
}

/* Not inlined: a caller gets a function of a library too. */
__attribute__((noinline)) static int answer(const char *key, struct answer *out) {
  const struct slot *slot = find(key, strlen(key));
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  if (!slot || slot->expires <= (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec) return 0;
  out->count4 = slot->count4;
  out->count6 = slot->count6;
  memcpy(out->addresses4, slot->addresses, slot->count4 * sizeof *slot->addresses);
  memcpy(out->addresses6, slot->addresses + slot->count4, slot->count6 * 4 * sizeof *slot->addresses);
  return 1;
}

static void *look_up(void *start) {
  uint64_t sum = 0;
  long at = (long)(intptr_t)start * key_count / 16;
  for (long left = lookups; left > 0; left--) {
    const char *key = keys[at];
    const struct slot *slot = find(key, strlen(key));
    if (slot) sum += slot->addresses[0];
    if (++at == key_count) at = 0;
  }
  /* The sum is used, so that no compiler may leave the work out. */
  return (void *)(uintptr_t)sum;
}

static void *look_up_chained(void *start) {
  uint64_t sum = 0, state = (uint64_t)(intptr_t)start * 7919;
  for (long left = lookups; left > 0; left--) {
    struct answer found;
    if (!answer(keys[(state >> 32) * (uint64_t)key_count >> 32], &found)) abort();
    sum += found.count4 + found.count6;
    state = state * 6364136223846793005ull + (found.addresses4[0] >> 24 == 127 ? 0x9e3779b9u : 0x7f4a7c15u);
  }
  return (void *)(uintptr_t)sum;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t next_random(void) {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  long names = 100000, threads = 1;
  for (int option; (option = getopt(argc, argv, "n:t:l:f:c")) > 0;) {
    switch (option) {
      case 'n': names = atol(optarg); break;
      case 't': threads = atol(optarg); break;
      case 'l': lookups = atol(optarg); break;
      case 'f': count4 = count6 = (uint32_t)atol(optarg); break;
      case 'c': is_chained = 1; break;
      default: return 64;
    }
  }
  if (names < 1 || threads < 1 || threads > 16 || count4 < 1 || count4 > FAMILY_LIMIT) return 64;

  uint64_t capacity = 16;
  while (capacity * 3 < (uint64_t)names * 4) capacity *= 2;
  mask = capacity - 1;
  slot_size = (sizeof(struct slot) + (count4 + count6 * 4) * sizeof(uint32_t) + 7) / 8 * 8;
  slots = calloc(capacity, slot_size);
  name_bytes = malloc((size_t)names * 24);
  char name[64];
  for (long index = 0; index < names; index++) {
    int length = snprintf(name, sizeof name, "host-%06ld.lab.test", index);
    insert(name, (size_t)length, (uint32_t)index);
  }
  key_count = names;
  keys = malloc((size_t)key_count * sizeof *keys);
  for (long index = 0; index < key_count; index++) {
    snprintf(name, sizeof name, "host-%06ld.lab.test", (long)(next_random() % (uint64_t)names));
    keys[index] = strdup(name);
  }

  double passes[5];
  for (int pass = 0; pass < 5; pass++) {
    pthread_t workers[16];
    double began = now();
    for (long thread = 0; thread < threads; thread++)
      pthread_create(&workers[thread], NULL, is_chained ? look_up_chained : look_up, (void *)(intptr_t)thread);
    for (long thread = 0; thread < threads; thread++) pthread_join(workers[thread], NULL);
    passes[pass] = (now() - began) / (double)lookups * 1e9;
  }
  qsort(passes, 5, sizeof *passes, compare);
  double bytes = (double)(capacity * slot_size + name_bytes_used) / (double)names;
  printf("ns_per_op=%.2f bytes_per_entry=%.1f\n", passes[2], bytes);
  return 0;
}
