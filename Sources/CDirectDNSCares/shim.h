// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The status codes are macros up to c-ares 1.20 and an enum from 1.21 on; these read the same for both.
static const int directdns_ares_success = ARES_SUCCESS;
static const int directdns_ares_nodata = ARES_ENODATA;
static const int directdns_ares_notfound = ARES_ENOTFOUND;
static const int directdns_ares_timeout = ARES_ETIMEOUT;
static const int directdns_ares_refused = ARES_EREFUSED;
static const int directdns_ares_servfail = ARES_ESERVFAIL;
static const int directdns_ares_connrefused = ARES_ECONNREFUSED;

/// What follows `resolvconf_path` in later options than those of 1.18.
struct directdns_ares_later_options {
  char *hosts_path;
  int udp_max_queries;
  /// From 1.22 on, by ARES_OPT_MAXTIMEOUTMS.
  int maxtimeout;
  /// From 1.23 on, by ARES_OPT_QUERY_CACHE.
  unsigned int qcache_max_ttl;
};

/// Options with room for those of later versions, since a program that was built with the headers of 1.18 may run with
/// a later library: that reads them by their bits, at which older ones do not look, and writes all of its own when it
/// saves them.
union directdns_ares_options {
  struct ares_options known;
  char room[sizeof(struct ares_options) + 256];
};

/// A channel with these flags, times, tries and the callback for its sockets; answers are remembered above c-ares.
///
/// `asks_dns_first` is set if the system is configured to look into the hosts file only after the DNS; to -1 where
/// c-ares does not tell.
static inline int directdns_ares_init(
    ares_channel *channel, struct ares_options *options, const char *resolv_conf, int *asks_dns_first) {
  const int maxtimeout = 1 << 20, query_cache = 1 << 21;
  int chosen = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | maxtimeout | query_cache;
  // From 1.31 on c-ares has a cache of its own, which a maximum of 0 turns off. From 1.32 on a server has five times as
  // long as its answers took before, 250 ms at least and 5 s at most, unless there is an upper bound.
  const struct directdns_ares_later_options later = {.maxtimeout = options->timeout, .qcache_max_ttl = 0};
  // With that bound, which 1.22 was the first to know, no round takes longer than the first one, and from 1.32 on a
  // server that has been fast has 250 ms: more rounds make up for it.
  int version = 0;
  (void)ares_version(&version);
  if (version >= 0x011600) options->tries += version >= 0x012000 ? 3 : 1;
  // The domains are searched above c-ares. ares_getaddrinfo does not look at ARES_FLAG_NOSEARCH before 1.23
  // (c-ares#637): no domains are taken from resolv.conf either.
  options->flags |= ARES_FLAG_NOSEARCH;
  options->ndomains = 0;
  chosen |= ARES_OPT_DOMAINS;
  if (resolv_conf != NULL) {
    options->resolvconf_path = (char *)resolv_conf;  // It is copied.
    chosen |= ARES_OPT_RESOLVCONF;
  }
  *asks_dns_first = 0;
  union directdns_ares_options given, read;
  memset(&given, 0, sizeof given);
  given.known = *options;
  memcpy(given.room + offsetof(struct ares_options, resolvconf_path) + sizeof(char *), &later, sizeof later);
  int status = ares_init_options(channel, &given.known, chosen);
  if (status != ARES_SUCCESS) return status;
  int known = 0;
  memset(&read, 0, sizeof read);
  if (ares_save_options(*channel, &read.known, &known) != ARES_SUCCESS) {
    *asks_dns_first = -1;
    return ARES_SUCCESS;
  }
  *asks_dns_first = read.known.lookups == NULL ? -1 : read.known.lookups[0] == 'b';
  ares_destroy_options(&read.known);
  return ARES_SUCCESS;
}

/// Whether the hosts file has addresses of that family for the name (1), of the other one alone (-1), or none (0).
static inline int directdns_ares_hosts(ares_channel channel, const char *name, int family) {
  struct hostent *found = NULL;
  if (ares_gethostbyname_file(channel, name, family, &found) == ARES_SUCCESS) {
    ares_free_hostent(found);
    return 1;
  }
  if (ares_gethostbyname_file(channel, name, family == AF_INET ? AF_INET6 : AF_INET, &found) != ARES_SUCCESS) return 0;
  ares_free_hostent(found);
  return -1;
}

static const int directdns_ares_noalias = ARES_FLAG_NOALIASES;
static const int directdns_ares_canonname = ARES_AI_CANONNAME;
static const int directdns_ares_nosort = ARES_AI_NOSORT;

// What it reads in a reply: a second opinion for the fuzzer. Debian 12's c-ares has no other way, and newer ones would
// rather be asked by ares_dns_parse().
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline int directdns_ares_parse_a(
    const unsigned char *bytes, int length, struct ares_addrttl *found, int *count) {
  return ares_parse_a_reply(bytes, length, NULL, found, count);
}
static inline int directdns_ares_parse_aaaa(
    const unsigned char *bytes, int length, struct ares_addr6ttl *found, int *count) {
  return ares_parse_aaaa_reply(bytes, length, NULL, found, count);
}
#pragma clang diagnostic pop

/// Whether a UDP socket of that family can be connected, which sends nothing: the family has a route.
static inline int directdns_has_route(int family) {
#if defined(SOCK_CLOEXEC)
  int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
#else
  int fd = socket(family, SOCK_DGRAM, 0);
#endif
  if (fd < 0) return 0;
  int result;
  if (family == AF_INET6) {
    // 2001:db8::/32 is documentation space; any global unicast address asks for the default route.
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
    inet_pton(AF_INET6, "2001:db8::53", &address.sin6_addr);
    result = connect(fd, (struct sockaddr *)&address, sizeof address);
  } else {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(53)};
    inet_pton(AF_INET, "192.0.2.53", &address.sin_addr);
    result = connect(fd, (struct sockaddr *)&address, sizeof address);
  }
  close(fd);
  return result == 0;
}
