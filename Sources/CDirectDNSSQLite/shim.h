// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// SQLITE_TRANSIENT is a cast to a function pointer, which Swift does not see: SQLite copies the bytes.

static inline int directdns_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  // Without an address it would be NULL, and not a blob of no bytes.
  return sqlite3_bind_blob(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline int directdns_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text ? text : "", count, SQLITE_TRANSIENT);
}

/// Whether closing the last connection brings the log into the file and takes it away.
static inline void directdns_sqlite_checkpoint_on_close(sqlite3 *database, int does) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !does, (int *)0);
}

/// The application's number in the file's header (https://www.sqlite.org/fileformat2.html, 1.3), past all checks; -1 without.
static inline int64_t directdns_sqlite_application_id(sqlite3 *database) {
  sqlite3_file *file = 0;
  unsigned char bytes[4];
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return -1;
  if (!file || !file->pMethods || file->pMethods->xRead(file, bytes, 4, 68) != SQLITE_OK) return -1;
  return (int64_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/// Which file a path leads to.
struct directdns_file_identity {
  int exists;
  /// A file, and not of one byte: SQLite takes such a one for empty, whatever the byte is.
  int is_usable;
  uint64_t device;
  uint64_t number;
};

static inline struct directdns_file_identity directdns_file(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0) return (struct directdns_file_identity){0, 0, 0, 0};
  return (struct directdns_file_identity){
      1, S_ISREG(found.st_mode) && found.st_size != 1, (uint64_t)found.st_dev, (uint64_t)found.st_ino};
}

/// Whether there is no file, or nothing in it.
static inline int directdns_is_empty(const char *path) {
  struct stat found;
  return stat(path, &found) != 0 ? errno == ENOENT : found.st_size == 0;
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

/// Takes away the log and its index that a deleted file has left. As long as a process has that file open SQLite takes its
/// index for that of the file which is made in its place, since it knows it by the name alone, and fails.
///
/// Of several processes one does: whoever comes later finds the new file, or no index of that one. It is not for two threads
/// at once: closing an index drops the locks of the process's own connections (fcntl(2)).
static inline void directdns_remove_log(const char *path, const char *log, const char *index) {
  struct stat found, held;
  if (lstat(path, &found) == 0 || errno != ENOENT) return;
  int descriptor = open(index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  // For a second at most: whoever may open the index may keep it locked.
  int locked, tries = 0;
  while ((locked = flock(descriptor, LOCK_EX | LOCK_NB)) != 0 && errno == EWOULDBLOCK && tries++ < 100) sqlite3_sleep(10);
  if (locked == 0 && fstat(descriptor, &held) == 0 && lstat(index, &found) == 0 && found.st_dev == held.st_dev &&
      found.st_ino == held.st_ino && lstat(path, &found) != 0 && errno == ENOENT) {
    // The index goes last: whoever finds none makes the file.
    unlink(log);
    unlink(index);
  }
  close(descriptor);
}

static inline int directdns_make_folder(const char *path) {
  return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

static inline const char *directdns_reason(int number) { return strerror(number); }

/// The path without links: SQLite's log lies beside what they lead to. To be freed; nothing if it leads nowhere.
static inline char *directdns_real_path(const char *path) { return realpath(path, NULL); }

/// The most damaged files that are kept.
#define DIRECTDNS_KEPT_FILES 9

/// The name of a damaged file that is kept: PATH.damaged, PATH.damaged-2 and so on.
static inline void directdns_kept_name(char *name, size_t size, const char *path, int number) {
  if (number == 1) snprintf(name, size, "%s.damaged", path);
  else snprintf(name, size, "%s.damaged-%d", path, number);
}

/// Gives a file the first of those names that is free, and takes the old one away: its number; 0 without a free one, or
/// where it cannot be, which leaves the file where it is.
static inline int directdns_keep(const char *path, const char *log, const char *index) {
  char name[PATH_MAX];
  for (int number = 1; number <= DIRECTDNS_KEPT_FILES; number++) {
    directdns_kept_name(name, sizeof name, path, number);
    // A link never takes the place of what is there, as a rename would; not every file system has them.
    int error = link(path, name) == 0 ? 0 : errno;
    if (error == EEXIST) continue;
    struct stat found;
    if (error != 0 && lstat(name, &found) == 0) continue;
    if (error != 0 && rename(path, name) != 0) return 0;
    // The log goes first: SQLite would replay it into the new file.
    if ((unlink(log) != 0 && errno != ENOENT) || (error == 0 && unlink(path) != 0)) {
      if (error == 0) unlink(name);
      else rename(name, path);
      return 0;
    }
    unlink(index);
    // Here and not by its opener: a link that leads to it leads nowhere meanwhile.
    directdns_create_private(path);
    return number;
  }
  return 0;
}

/// Keeps a damaged database under another name: its number; 0 where it cannot be; -1 where another process was faster: then
/// the path leads to another file by now.
static inline int directdns_set_aside(
    const char *path, const char *log, const char *index, struct directdns_file_identity damaged) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  int number = 0;
  if (flock(descriptor, LOCK_EX) == 0) {
    struct directdns_file_identity now = directdns_file(path);
    if (now.exists && now.device == damaged.device && now.number == damaged.number) {
      number = directdns_keep(path, log, index);
    } else {
      number = -1;
    }
  }
  close(descriptor);
  return number;
}
