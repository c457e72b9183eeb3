// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file's bytes; nil if there is no such file.
///
/// A device or a pipe may never end: more than 256 MiB are an error.
func readWholeFile(_ path: String) throws(StreamError) -> [UInt8]? {
  do throws(FileFailure) { return try ReadableFile(path).readToEnd() } catch {
    guard !error.isMissing else { return nil }
    throw StreamError(error)
  }
}

/// Whether two paths lead to the same existing file.
func isSameFile(_ one: String, _ other: String?) -> Bool {
  guard let other, one != Pipeline.inputMark else { return false }
  var (first, second) = (stat(), stat())
  guard unsafe stat(one, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
  // A device can be named twice.
  return first.st_mode & S_IFMT == S_IFREG && first.st_dev == second.st_dev && first.st_ino == second.st_ino
}

/// Whether a path leads to a FIFO or a character device, which may block its reader.
///
/// A socket cannot be opened by its path.
func isPipe(_ path: String) -> Bool {
  var information = stat()
  guard unsafe stat(path, &information) == 0 else { return false }
  return [S_IFIFO, S_IFCHR].contains(information.st_mode & S_IFMT)
}

/// Whether there is nothing at a path, no link either; not if a folder on the way keeps that from being known.
func isMissing(_ path: String) -> Bool {
  var information = stat()
  return unsafe lstat(path, &information) != 0 && [ENOENT, ENOTDIR].contains(errno)
}

/// A path without links; as it is if it leads nowhere.
func realPath(_ path: String) -> String {
  guard let real = unsafe realpath(path, nil) else { return path }
  defer { unsafe free(real) }
  return unsafe String(cString: real)
}

/// The length of a database with its log, which lies beside the file itself, wherever a link to it does; nil if there
/// is none.
func databaseLength(_ path: String) -> Int64? {
  fileLength(path).map { $0 + (fileLength(realPath(path) + "-wal") ?? 0) }
}

/// The length of a file; nil if there is none, or a folder on the way keeps it from being known.
private func fileLength(_ path: String) -> Int64? {
  var information = stat()
  return unsafe stat(path, &information) == 0 ? Int64(information.st_size) : nil
}
