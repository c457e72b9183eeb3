// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <crypt.h>
#include <stdlib.h>
#include <string.h>

/// crypt(3) with room of its own: hashes a password by the salt and the method that a hash begins with.
///
/// Whether it gives that hash again, compared without telling by the time how much of it is alike.
static inline int directdns_crypt_matches(const char *password, const char *hash) {
  struct crypt_data *data = (struct crypt_data *)calloc(1, sizeof *data);
  if (data == NULL) return 0;
  const char *found = crypt_r(password, hash, data);
  size_t length = strlen(hash);
  unsigned char difference = found == NULL || found[0] == '*' || strlen(found) != length;
  if (!difference)
    for (size_t index = 0; index < length; index++) difference |= (unsigned char)found[index] ^ (unsigned char)hash[index];
  // An optimiser leaves out memset before free; not every system has a function that it leaves alone.
  volatile unsigned char *bytes = (volatile unsigned char *)data;
  for (size_t index = 0; index < sizeof *data; index++) bytes[index] = 0;
  free(data);
  return !difference;
}

/// Whether crypt(3) knows the method that a hash names.
static inline int directdns_crypt_knows(const char *hash) {
#if defined(CRYPT_SALT_OK)
  int state = crypt_checksalt(hash);
  return state == CRYPT_SALT_OK || state == CRYPT_SALT_METHOD_LEGACY || state == CRYPT_SALT_TOO_CHEAP;
#else
  return hash[0] == '$';
#endif
}
