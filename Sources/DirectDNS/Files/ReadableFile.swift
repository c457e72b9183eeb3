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
  private let descriptor: Int32

  /// Opens a file, or whatever else can be read.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - waits: whether a FIFO is waited for until somebody writes it; otherwise it is empty until then.
  /// - Throws: why it cannot be opened.
  package init(_ path: String, waits: Bool = true) throws(FileFailure) {
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw .last() }
  }

  deinit { close(descriptor) }

  /// Whether this process may read what is at a path, which is not opened for it.
  static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// Whether a file is at a path, and no folder, pipe or device; it is not opened for that.
  static func isRegular(_ path: String) -> Bool {
    var found = stat()
    return unsafe stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFREG
  }

  /// The number of its bytes; nil for a folder, a FIFO or a device, which has none.
  var length: Int64? {
    var found = stat()
    guard unsafe fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(found.st_size)
  }

  /// Whether it is a file, which can be read again, and no pipe or device.
  var isRegular: Bool { length != nil }

  /// All that is left of it; what does not end, as a device may not, is too long at 256 MiB.
  package func readToEnd() throws(FileFailure) -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let part = try read(65_536)
      if part.isEmpty { return all }
      all += part
      guard all.count <= 256 << 20 else { throw FileFailure("it is longer than 256 MiB") }
    }
  }

  /// The next bytes; none at the end.
  ///
  /// - Parameter limit: so many at most.
  /// - Returns: at least one byte, but for the end.
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

/// `read(2)`, beside the class's own of that name.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, bytes, count)
}
