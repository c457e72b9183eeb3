// SPDX-License-Identifier: Apache-2.0
// Records what a program does to the files below a folder: preloaded (LD_PRELOAD) by Trust/crashes, which plays it again
// and drops what was not synced, as a power failure does.
//
//   RECORD=FILE          where the record goes
//   RECORD_BELOW=FOLDER  the files that count
//
// A record is a line for each call that has succeeded, and for a write its bytes behind it:
//   open FD NEW TRUNCATED PATH · close FD · write FD OFFSET LENGTH · truncate FD LENGTH · sync FD · rename FROM|TO ·
//   link FROM|TO · unlink PATH
// Files are told apart by the number that `open` gives them, which is never used again: fd numbers are.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -1, numbers[FILES], next_number;
static char below[4096];

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("RECORD"), *folder = getenv("RECORD_BELOW");
  if (!path || !folder || strlen(folder) >= sizeof below) return;
  strcpy(below, folder);
  record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(const void *bytes, size_t count) {
  for (const char *at = bytes; count > 0;) {
    ssize_t written = syscall(SYS_write, record, at, count);
    if (written <= 0) abort();
    at += written;
    count -= (size_t)written;
  }
}

__attribute__((format(printf, 1, 2))) static void line(const char *format, ...) {
  char text[9000];
  va_list list;
  va_start(list, format);
  int count = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (count < 0 || (size_t)count >= sizeof text) abort();
  put(text, (size_t)count);
}

static int counts(const char *path) { return record >= 0 && !strncmp(path, below, strlen(below)); }
static int number(int fd) { return fd >= 0 && fd < FILES ? numbers[fd] : 0; }

// The whole path of what a relative one names.
static const char *whole(const char *path, char *buffer) {
  if (path[0] == '/') return path;
  char folder[4000];
  if (!getcwd(folder, sizeof folder)) return path;
  snprintf(buffer, 8192, "%s/%s", folder, path);
  return buffer;
}

#define LOCKED(body)                                                                                                   \
  do {                                                                                                                 \
    int saved = errno;                                                                                                 \
    pthread_mutex_lock(&lock);                                                                                         \
    body;                                                                                                              \
    pthread_mutex_unlock(&lock);                                                                                       \
    errno = saved;                                                                                                     \
  } while (0)

static int opened(const char *path, int flags, mode_t mode) {
  char buffer[8192];
  const char *full = whole(path, buffer);
  int result = -1;
  LOCKED({
    int is_new = counts(full) && access(full, F_OK) != 0;
    result = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    saved = errno;
    if (result >= 0 && result < FILES && counts(full)) {
      struct stat found;
      int is_folder = fstat(result, &found) == 0 && S_ISDIR(found.st_mode);
      numbers[result] = ++next_number;
      line("open %d %d %d %s\n", next_number, is_new, !is_new && (flags & O_TRUNC) != 0, is_folder ? "/" : full);
    }
  });
  return result;
}

#define OPENING(name)                                                                                                  \
  int name(const char *path, int flags, ...) {                                                                         \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    mode_t mode = va_arg(list, mode_t);                                                                                \
    va_end(list);                                                                                                      \
    return opened(path, flags, mode);                                                                                  \
  }
OPENING(open)
OPENING(open64)

int close(int fd) {
  LOCKED({
    if (number(fd)) {
      line("close %d\n", numbers[fd]);
      numbers[fd] = 0;
    }
  });
  return (int)syscall(SYS_close, fd);
}

static void wrote(int fd, const void *bytes, off_t offset, ssize_t count) {
  line("write %d %ld %ld\n", numbers[fd], (long)offset, (long)count);
  put(bytes, (size_t)count);
  put("\n", 1);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  ssize_t result = 0;
  LOCKED({
    int is_behind = number(fd) && (fcntl(fd, F_GETFL) & O_APPEND);
    off_t offset = number(fd) ? lseek(fd, 0, is_behind ? SEEK_END : SEEK_CUR) : 0;
    result = syscall(SYS_write, fd, bytes, count);
    saved = errno;
    if (number(fd) && result > 0) wrote(fd, bytes, offset, result);
  });
  return result;
}

#define WRITING(name)                                                                                                  \
  ssize_t name(int fd, const void *bytes, size_t count, off_t offset) {                                                \
    ssize_t result = 0;                                                                                                \
    LOCKED({                                                                                                           \
      result = syscall(SYS_pwrite64, fd, bytes, count, offset);                                                        \
      saved = errno;                                                                                                   \
      if (number(fd) && result > 0) wrote(fd, bytes, offset, result);                                                  \
    });                                                                                                                \
    return result;                                                                                                     \
  }
WRITING(pwrite)
WRITING(pwrite64)

// A call of a file that is recorded when it has succeeded.
#define RECORDED(name, parameters, system_call, what)                                                                  \
  int name parameters {                                                                                                \
    int result = 0;                                                                                                    \
    LOCKED({                                                                                                           \
      result = (int)system_call;                                                                                       \
      saved = errno;                                                                                                   \
      if (result == 0 && number(fd)) what;                                                                             \
    });                                                                                                                \
    return result;                                                                                                     \
  }
RECORDED(ftruncate, (int fd, off_t size), syscall(SYS_ftruncate, fd, size), line("truncate %d %ld\n", numbers[fd], (long)size))
RECORDED(ftruncate64, (int fd, off64_t size), syscall(SYS_ftruncate, fd, size),
         line("truncate %d %ld\n", numbers[fd], (long)size))
RECORDED(fsync, (int fd), syscall(SYS_fsync, fd), line("sync %d\n", numbers[fd]))
RECORDED(fdatasync, (int fd), syscall(SYS_fdatasync, fd), line("sync %d\n", numbers[fd]))

#define MOVING(name, number)                                                                                           \
  int name(const char *from, const char *to) {                                                                         \
    char first[8192], second[8192];                                                                                    \
    const char *source = whole(from, first), *target = whole(to, second);                                              \
    int result = 0;                                                                                                    \
    LOCKED({                                                                                                           \
      result = (int)syscall(number, from, to);                                                                         \
      saved = errno;                                                                                                   \
      if (result == 0 && counts(target)) line(#name " %s|%s\n", source, target);                                       \
    });                                                                                                                \
    return result;                                                                                                     \
  }
MOVING(rename, SYS_rename)
MOVING(link, SYS_link)

int unlink(const char *path) {
  char buffer[8192];
  const char *full = whole(path, buffer);
  int result = 0;
  LOCKED({
    result = (int)syscall(SYS_unlink, path);
    saved = errno;
    if (result == 0 && counts(full)) line("unlink %s\n", full);
  });
  return result;
}
