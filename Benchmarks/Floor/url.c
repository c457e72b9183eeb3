// SPDX-License-Identifier: Apache-2.0
/* The floors under a URL's way through the library: bytes read one after the other, and written into a buffer.

     url [-k KIND] [-n REPETITIONS]

   KIND is one of
     scan     a URL of 55 bytes copied byte by byte into a buffer, an address in the place of its host: the least
              that parsing, rewriting and restoring have to do
     parse    the same URLs given to libcurl's parser
     rewrite  the same, with the host replaced and the URL read back
   Prints `ns_per_op=NANOSECONDS`: the median of nine passes.  */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "passes.h"

enum { URLS = 64 };

static char urls[URLS][64];
static const char address[] = "203.0.113.5";

/* Not inlined: a caller does not know the URL at compile time either. */
__attribute__((noinline)) static size_t scan(const char *url, const char *host, char *out) {
  size_t at = 0, written = 0;
  while (url[at] && url[at] != ':') out[written++] = url[at++];
  while (url[at] == ':' || url[at] == '/') out[written++] = url[at++];
  while (*host) out[written++] = *host++;
  while (url[at] && url[at] != '/' && url[at] != ':' && url[at] != '?' && url[at] != '#') at++;
  while (url[at]) out[written++] = url[at++];
  out[written] = 0;
  return written;
}

static size_t parse(const char *url) {
  CURLU *handle = curl_url();
  size_t read = !curl_url_set(handle, CURLUPART_URL, url, 0);
  curl_url_cleanup(handle);
  return read;
}

static size_t rewrite(const char *url, const char *host) {
  CURLU *handle = curl_url();
  char *text = NULL;
  size_t length = 0;
  if (!curl_url_set(handle, CURLUPART_URL, url, 0) && !curl_url_set(handle, CURLUPART_HOST, host, 0) &&
      !curl_url_get(handle, CURLUPART_URL, &text, 0))
    length = strlen(text);
  curl_free(text);
  curl_url_cleanup(handle);
  return length;
}

int main(int argc, char **argv) {
  const char *kind = "scan";
  long repetitions = 200000;
  for (int option; (option = getopt(argc, argv, "k:n:")) > 0;) {
    switch (option) {
      case 'k': kind = optarg; break;
      case 'n': repetitions = atol(optarg); break;
      default: return 64;
    }
  }
  int is_scan = !strcmp(kind, "scan"), is_rewrite = !strcmp(kind, "rewrite");
  if (repetitions < 1 || (!is_scan && !is_rewrite && strcmp(kind, "parse"))) return 64;
  for (int index = 0; index < URLS; index++)
    snprintf(urls[index], sizeof *urls, "https://www.example.com/api/v1/items?id=%02d&lang=en&page", index);

  double passes[PASSES];
  size_t sum = 0;
  for (int pass = 0; pass < PASSES; pass++) {
    double began = now();
    for (long index = 0; index < repetitions; index++) {
      const char *url = urls[index % URLS];
      char out[256];
      sum += is_scan ? scan(url, address, out) : is_rewrite ? rewrite(url, address) : parse(url);
    }
    passes[pass] = (now() - began) / (double)repetitions * 1e9;
  }
  if (!sum) return 1;
  printf("ns_per_op=%.2f\n", median(passes));
  return 0;
}
