#pragma once
#include <stddef.h>
#include <sys/types.h>
#include <sys/xattr.h>

// Extended attributes of an open file: the systems disagree on the parameters.

static inline ssize_t directdns_get_attribute(int file, const char *name, void *value, size_t size) {
#if defined(__APPLE__)
  return fgetxattr(file, name, value, size, 0, 0);
#else
  return fgetxattr(file, name, value, size);
#endif
}

static inline int directdns_set_attribute(int file, const char *name, const void *value, size_t size) {
#if defined(__APPLE__)
  return fsetxattr(file, name, value, size, 0, 0);
#else
  return fsetxattr(file, name, value, size, 0);
#endif
}

static inline int directdns_remove_attribute(int file, const char *name) {
#if defined(__APPLE__)
  return fremovexattr(file, name, 0);
#else
  return fremovexattr(file, name);
#endif
}
