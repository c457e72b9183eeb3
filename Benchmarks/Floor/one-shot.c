// SPDX-License-Identifier: Apache-2.0
/* The floor under a one-shot lookup: one DNS-over-HTTPS POST by libcurl, read and printed.

     one-shot -a CA-FILE | -A CA-DIRECTORY -r HOST:PORT:ADDRESS URL NAME                                      */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <unistd.h>

#include "dns-message.h"

static uint8_t reply[4096];
static size_t reply_size;

static size_t receive(char *bytes, size_t unit, size_t count, void *context) {
  (void)context;
  size_t size = unit * count;
  if (reply_size + size > sizeof reply) return 0;
  memcpy(reply + reply_size, bytes, size);
  reply_size += size;
  return size;
}

int main(int argc, char **argv) {
  const char *ca_file = NULL, *ca_directory = NULL, *resolve = NULL;
  for (int option; (option = getopt(argc, argv, "a:A:r:")) > 0;) {
    switch (option) {
      case 'a': ca_file = optarg; break;
      case 'A': ca_directory = optarg; break;
      case 'r': resolve = optarg; break;
      default: return 64;
    }
  }
  if (argc - optind != 2 || !resolve) {
    fprintf(stderr, "usage: one-shot -a CA-FILE | -A CA-DIRECTORY -r HOST:PORT:ADDRESS URL NAME\n");
    return 64;
  }

  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *curl = curl_easy_init();
  uint8_t query[DNS_QUERY_MAX];
  size_t query_size = dns_query(query, argv[optind + 1]);
  struct curl_slist *hosts = curl_slist_append(NULL, resolve);
  struct curl_slist *fields = curl_slist_append(NULL, "content-type: application/dns-message");
  fields = curl_slist_append(fields, "accept: application/dns-message");

  /* The bundle is set to nothing where a directory is given: reading it is what costs the time. */
  curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
  if (ca_directory) curl_easy_setopt(curl, CURLOPT_CAPATH, ca_directory);
  curl_easy_setopt(curl, CURLOPT_URL, argv[optind]);
  curl_easy_setopt(curl, CURLOPT_RESOLVE, hosts);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, query);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)query_size);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);

  CURLcode status = curl_easy_perform(curl);
  if (status != CURLE_OK) {
    fprintf(stderr, "%s\n", curl_easy_strerror(status));
    return 1;
  }
  uint8_t address[4];
  uint32_t ttl;
  if (dns_first_address(reply, reply_size, address, &ttl) < 1) return 2;
  char text[INET_ADDRSTRLEN];
  puts(inet_ntop(AF_INET, address, text, sizeof text));

  curl_easy_cleanup(curl);
  curl_slist_free_all(hosts);
  curl_slist_free_all(fields);
  return 0;
}
