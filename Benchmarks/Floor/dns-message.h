// SPDX-License-Identifier: Apache-2.0
/* The least of the DNS message format (RFC 1035) that a client can do with. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DNS_QUERY_MAX 300

/* Writes the query for the A record of `name`, which must be a valid host name; returns its length. */
static inline size_t dns_query(uint8_t query[DNS_QUERY_MAX], const char *name) {
  static const uint8_t header[12] = {0, 0, 1, 0, 0, 1};
  memcpy(query, header, sizeof header);
  size_t at = sizeof header;
  while (*name) {
    size_t length = strcspn(name, ".");
    query[at++] = (uint8_t)length;
    memcpy(query + at, name, length);
    at += length;
    name += length;
    if (*name) name++;
  }
  static const uint8_t trailer[5] = {0, 0, 1, 0, 1};
  memcpy(query + at, trailer, sizeof trailer);
  return at + sizeof trailer;
}

/* The offset behind the name at `at`, or one beyond the end. */
static inline size_t dns_skip_name(const uint8_t *message, size_t size, size_t at) {
  while (at < size) {
    uint8_t length = message[at];
    if (length == 0) return at + 1;
    if ((length & 0xc0) == 0xc0) return at + 2;
    at += length + 1u;
  }
  return size + 1;
}

static inline unsigned dns_word(const uint8_t *message, size_t at) {
  return (unsigned)message[at] << 8 | message[at + 1];
}

/* Finds the first A record of a reply. Returns how many there are, 0 for any failure. */
static inline int dns_first_address(const uint8_t *message, size_t size, uint8_t address[4], uint32_t *ttl) {
  if (size < 12 || (message[3] & 15) != 0) return 0;
  size_t at = 12;
  for (unsigned left = dns_word(message, 4); left > 0; left--) {
    at = dns_skip_name(message, size, at) + 4;
    if (at > size) return 0;
  }
  int found = 0;
  for (unsigned left = dns_word(message, 6); left > 0; left--) {
    at = dns_skip_name(message, size, at);
    if (at + 10 > size) return 0;
    unsigned type = dns_word(message, at);
    uint32_t lifetime = (uint32_t)dns_word(message, at + 4) << 16 | dns_word(message, at + 6);
    size_t length = dns_word(message, at + 8);
    at += 10;
    if (at + length > size) return 0;
    if (type == 1 && length == 4 && found++ == 0) {
      memcpy(address, message + at, 4);
      *ttl = lifetime;
    }
    at += length;
  }
  return found;
}
