#pragma once
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/// SQLITE_TRANSIENT is a cast to a function pointer, which Swift does not see: SQLite copies the bytes.
static inline int directdns_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

/// Which file a path leads to.
struct directdns_file_identity {
  int exists;
  uint64_t device;
  uint64_t number;
};

static inline struct directdns_file_identity directdns_file(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0) return (struct directdns_file_identity){0, 0, 0};
  return (struct directdns_file_identity){1, (uint64_t)found.st_dev, (uint64_t)found.st_ino};
}

/// Makes an empty file that its owner alone can read, unless there is one: 0, or why not.
///
/// One that exists is not opened: closing it would drop the locks of SQLite's own connections (fcntl(2)).
static inline int directdns_create_private(const char *path) {
  int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno == EEXIST ? 0 : errno;
  close(descriptor);
  return 0;
}

static inline int directdns_make_folder(const char *path) {
  return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

static inline const char *directdns_reason(int number) { return strerror(number); }

/// Renames a damaged database, unless another process was faster: then the path leads to another file by now.
///
/// Its log goes first: SQLite would replay it into the new file.
static inline void directdns_set_aside(
    const char *path, const char *log, const char *index, const char *aside, struct directdns_file_identity damaged) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX) == 0) {
    struct directdns_file_identity now = directdns_file(path);
    if (now.exists && now.device == damaged.device && now.number == damaged.number) {
      unlink(log);
      unlink(index);
      rename(path, aside);
    }
  }
  close(descriptor);
}
