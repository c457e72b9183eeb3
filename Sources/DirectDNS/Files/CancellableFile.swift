// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file whose reader may have to wait, as at a FIFO, and waits no longer once somebody cancels that.
///
/// One thread reads it at a time; any may cancel it.
final class CancellableFile: Sendable {
  private let file: ReadableFile
  /// Can be read from once the wait is cancelled; negative for a regular file, at which nobody waits.
  private let cancelled: Int32
  private let cancelling: Int32

  /// Opens a file, or anything else that can be read, without waiting for a writer.
  ///
  /// - Parameter path: the file.
  /// - Throws: why it cannot be opened.
  init(_ path: String) throws(FileFailure) {
    #if os(Linux)
      let file = try ReadableFile(path, waits: false)
    #else
      // Only Linux has poll(2) wait for a FIFO's first writer: elsewhere it has come to its end before there was one.
      let file = try ReadableFile(path)
    #endif
    var (reading, writing): (Int32, Int32) = (-1, -1)
    if !file.isRegular {
      reading = unsafe directdns_wakeup_open(&writing)
      guard reading >= 0 else { throw .last() }
    }
    self.file = file
    cancelled = reading
    cancelling = writing
  }

  deinit { if cancelled >= 0 { directdns_wakeup_close(cancelled, cancelling) } }

  /// Reads the next bytes, for which it waits.
  ///
  /// - Parameter limit: the most bytes to read.
  /// - Returns: at least one byte; none at the end.
  /// - Throws: why it cannot be read, or that the wait was cancelled.
  func read(_ limit: Int) throws(FileFailure) -> [UInt8] {
    guard cancelled >= 0 else { return try file.read(limit) }
    while true {
      try wait()
      do throws(FileFailure) { return try file.read(limit) } catch {
        // Another reader of the FIFO was faster.
        guard error.code == EAGAIN else { throw error }
      }
    }
  }

  private func wait() throws(FileFailure) {
    var watched = [
      directdns_pollfd(fd: file.descriptor, events: directdns_pollin, revents: 0),
      directdns_pollfd(fd: cancelled, events: directdns_pollin, revents: 0),
    ]
    while unsafe directdns_poll(&watched, 2, -1) < 0 {
      guard errno == EINTR else { throw .last() }
    }
    guard watched[1].revents == 0 else { throw FileFailure(code: ECANCELED) }
  }

  /// Ends the wait for bytes, and each one from now on.
  func cancel() { if cancelled >= 0 { directdns_wakeup_call(cancelling) } }
}
