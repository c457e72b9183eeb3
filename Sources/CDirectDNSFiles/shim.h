// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

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

/// Has what was written to a file reach the medium; 0, or -1 as fsync(2).
///
/// Darwin's fsync(2) leaves it in the drive's own memory. F_FULLFSYNC does not, which not every file system knows
/// (fcntl(2)).
static inline int directdns_sync(int file) {
#if defined(F_FULLFSYNC)
  if (fcntl(file, F_FULLFSYNC) == 0) return 0;
#endif
  return fsync(file);
}

/// Waits until a descriptor takes more. Whose `pollfd` Swift takes for its own depends on what else a module imports, too.
static inline void directdns_wait_until_writable(int file) {
  struct pollfd entry = {file, POLLOUT, 0};
  poll(&entry, 1, -1);
}

/// What tells one state of a file from the next. By value, and as numbers: whose `timespec` Swift takes for its own
/// depends on what else a module imports.
struct directdns_file_stamp {
  uint64_t device, inode;
  int64_t size, modified[2], changed[2];
};
/// The stamp of what a path leads to; false if there is nothing.
static inline int directdns_stamp(const char *path, struct directdns_file_stamp *stamp) {
  struct stat found;
  if (stat(path, &found) != 0) return 0;
#if defined(__APPLE__)
  struct timespec modified = found.st_mtimespec, changed = found.st_ctimespec;
#else
  struct timespec modified = found.st_mtim, changed = found.st_ctim;
#endif
  *stamp = (struct directdns_file_stamp){
      (uint64_t)found.st_dev, (uint64_t)found.st_ino, (int64_t)found.st_size,
      {modified.tv_sec, modified.tv_nsec}, {changed.tv_sec, changed.tv_nsec}};
  return 1;
}

/// Whether a path itself is where something is mounted, as a single file of the host is in a container: no other file can
/// take its place (EBUSY of rename(2)). Not known before Linux 5.8.
///
/// By its number: C libraries declare statx(2) with `_GNU_SOURCE` only.
static inline int directdns_is_mount_point(const char *path) {
#if defined(__linux__) && defined(SYS_statx)
  // As long as `struct statx`; its second 64 bits are the attributes, one of which is STATX_ATTR_MOUNT_ROOT.
  uint64_t found[32] = {0};
  return syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, found) == 0 && (found[1] & 0x2000) != 0;
#else
  (void)path;
  return 0;
#endif
}
