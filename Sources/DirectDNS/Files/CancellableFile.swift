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
  /// Ends the wait; nil for a regular file, at which nobody waits.
  private let wakeUp: WakeUp?

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
    self.file = file
    guard !file.isRegular else {
      wakeUp = nil
      return
    }
    guard let opened = WakeUp() else { throw .last() }
    wakeUp = opened
  }

  /// Reads the next bytes, for which it waits.
  ///
  /// - Parameter limit: the most bytes to read.
  /// - Returns: at least one byte; none at the end.
  /// - Throws: why it cannot be read, or that the wait was cancelled.
  func read(_ limit: Int) throws(FileFailure) -> [UInt8] {
    guard let wakeUp else { return try file.read(limit) }
    while true {
      try wait(unless: wakeUp)
      do throws(FileFailure) { return try file.read(limit) } catch {
        // Another reader of the FIFO was faster.
        guard error.code == EAGAIN else { throw error }
      }
    }
  }

  private func wait(unless wakeUp: WakeUp) throws(FileFailure) {
    var watched = [
      directdns_pollfd(fd: file.descriptor, events: directdns_pollin, revents: 0),
      directdns_pollfd(fd: wakeUp.descriptor, events: directdns_pollin, revents: 0),
    ]
    while unsafe directdns_poll(&watched, 2, -1) < 0 {
      guard errno == EINTR else { throw .last() }
    }
    guard watched[1].revents == 0 else { throw FileFailure(code: ECANCELED) }
  }

  /// Ends the wait for bytes, and each one from now on.
  func cancel() { wakeUp?.call() }
}
