// SPDX-License-Identifier: Apache-2.0
/* The floor under judging an address: every row of IANA's special-purpose registries compared in turn, no index.

     policy [-n REPETITIONS]

   The addresses are public, as nearly all are that a client asks about: no row stands for a shorter way. Prints
   `ns_per_op=NANOSECONDS`: the median of nine passes.  */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "passes.h"

enum { ADDRESSES = 64 };

static const char *const ipv4_rows[] = {
    "0.0.0.0/8",       "10.0.0.0/8",      "100.64.0.0/10", "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12",   "192.0.0.0/24",    "192.0.2.0/24",  "192.31.196.0/24", "192.52.193.0/24",
    "192.88.99.0/24",  "192.168.0.0/16",  "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24",  "224.0.0.0/4",     "240.0.0.0/4",   "168.63.129.16/32",
};
static const char *const ipv6_rows[] = {
    "::1/128",      "::/128",       "::ffff:0:0/96", "64:ff9b::/96",     "64:ff9b:1::/48",  "100::/64",
    "100:0:0:1::/64", "2001::/23",  "2001::/32",     "2001:1::1/128",    "2001:1::2/128",   "2001:1::3/128",
    "2001:2::/48",  "2001:3::/32",  "2001:4:112::/48", "2001:10::/28",   "2001:20::/28",    "2001:30::/28",
    "2001:db8::/32", "2002::/16",   "2620:4f:8000::/48", "3fff::/20",    "5f00::/16",       "fc00::/7",
    "fe80::/10",    "ff00::/8",     "2000::/3",
};
enum { IPV4_ROWS = sizeof ipv4_rows / sizeof *ipv4_rows, IPV6_ROWS = sizeof ipv6_rows / sizeof *ipv6_rows };

struct row4 {
  uint32_t value, mask;
};
struct row6 {
  uint64_t high, low, high_mask, low_mask;
  int length;
};
struct address {
  uint64_t high, low;
  int is_ipv6;
};

static struct row4 rows4[IPV4_ROWS];
static struct row6 rows6[IPV6_ROWS];
static struct address addresses[ADDRESSES];

static uint64_t number(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int index = 0; index < count; index++) value = value << 8 | bytes[index];
  return value;
}

static void read_rows(void) {
  for (int index = 0; index < IPV4_ROWS; index++) {
    char text[64];
    unsigned char bytes[4];
    int length = 0;
    sscanf(ipv4_rows[index], "%63[^/]/%d", text, &length);
    inet_pton(AF_INET, text, bytes);
    rows4[index] = (struct row4){(uint32_t)number(bytes, 4), (uint32_t)(0xFFFFFFFFull << (32 - length))};
  }
  for (int index = 0; index < IPV6_ROWS; index++) {
    char text[64];
    unsigned char bytes[16];
    int length = 0;
    sscanf(ipv6_rows[index], "%63[^/]/%d", text, &length);
    inet_pton(AF_INET6, text, bytes);
    rows6[index] = (struct row6){number(bytes, 8), number(bytes + 8, 8), length >= 64 ? ~0ull : ~0ull << (64 - length),
                                 length <= 64 ? 0 : ~0ull << (128 - length), length};
  }
}

/* Whether the most specific row around the address is none, or global unicast. */
__attribute__((noinline)) static int is_public(const struct address *address) {
  if (!address->is_ipv6) {
    for (int index = 0; index < IPV4_ROWS; index++)
      if (((uint32_t)address->low & rows4[index].mask) == rows4[index].value) return 0;
    return 1;
  }
  int longest = 0;
  for (int index = 0; index < IPV6_ROWS; index++) {
    const struct row6 *row = &rows6[index];
    if ((address->high & row->high_mask) == row->high && (address->low & row->low_mask) == row->low &&
        row->length > longest)
      longest = row->length;
  }
  return longest == 3;
}

int main(int argc, char **argv) {
  long repetitions = 1000000;
  for (int option; (option = getopt(argc, argv, "n:")) > 0;) {
    if (option != 'n') return 64;
    repetitions = atol(optarg);
  }
  if (repetitions < 1) return 64;
  read_rows();
  /* As in the bench: 8.8.N.4, and every fourth 2606:4700:N::1111. */
  for (uint64_t index = 0; index < ADDRESSES; index++)
    addresses[index] = index % 4 == 3 ? (struct address){0x2606470000000000ull | index << 16, 0x1111, 1}
                                      : (struct address){0, 0x08080004ull | index << 8, 0};

  double passes[PASSES];
  for (int pass = 0; pass < PASSES; pass++) {
    long count = 0;
    double began = now();
    for (long index = 0; index < repetitions; index++) count += is_public(&addresses[index % ADDRESSES]);
    passes[pass] = (now() - began) / (double)repetitions * 1e9;
    if (count != repetitions) return 1;
  }
  printf("ns_per_op=%.2f\n", median(passes));
  return 0;
}
