// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file that is read a piece at a time, so that a long one takes no more memory than a short one.
package final class ReadableFile: Sendable {
  let descriptor: Int32

  /// Opens a file, or anything else that can be read.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - waits: whether to wait until somebody opens a FIFO for writing; otherwise it is empty until then.
  /// - Throws: why it cannot be opened.
  package init(_ path: String, waits: Bool = true) throws(FileFailure) {
    try FileFailure.checkName(path)
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw .last() }
  }

  deinit { close(descriptor) }

  /// Whether this process may read what is at a path; it is not opened.
  static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// Whether a regular file may be at a path, which is not opened: none if there is nothing, or a folder, pipe or device.
  package static func mayBeRegular(_ path: String) -> Bool {
    var found = stat()
    guard unsafe stat(path, &found) == 0 else { return errno != ENOENT }
    return found.st_mode & S_IFMT == S_IFREG
  }

  /// The number of its bytes; nil for a folder, a FIFO or a device, which has none.
  var length: Int64? {
    var found = stat()
    guard unsafe fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(found.st_size)
  }

  /// Whether it is a regular file, which can be read again, and not a pipe or device.
  var isRegular: Bool { length != nil }

  /// Reads the rest of it; more than 256 MiB is an error, since a device may never end.
  package func readToEnd() throws(FileFailure) -> [UInt8] {
    guard let all = try readToEnd(limit: 256 << 20) else { throw FileFailure("it is longer than 256 MiB") }
    return all
  }

  /// Reads the rest of it; nil if that is more than so many bytes.
  package func readToEnd(limit: Int) throws(FileFailure) -> [UInt8]? {
    var all: [UInt8] = []
    while true {
      let part = try read(65_536)
      if part.isEmpty { return all }
      all += part
      guard all.count <= limit else { return nil }
    }
  }

  /// Reads the next bytes.
  ///
  /// - Parameter limit: the most bytes to read.
  /// - Returns: at least one byte; none at the end.
  /// - Throws: why it cannot be read.
  package func read(_ limit: Int) throws(FileFailure) -> [UInt8] {
    while true {
      var count = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
        count = unsafe systemRead(descriptor, buffer.baseAddress, limit)
        filled = max(0, count)
      }
      if count >= 0 { return bytes }
      guard errno == EINTR else { throw .last() }
    }
  }
}

/// `read(2)`, since a method of the class has the same name.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, bytes, count)
}
