// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSSockets
internal import NIOCore

/// Whether the other side of a connection takes what was written to it, however slowly.
///
/// Events tell of that only when hundreds of kilobytes were taken, and nothing of the megabytes that the kernel holds.
/// So what has not arrived yet is counted once a second: when it becomes less, the other side reads.
struct WriteProgress {
  /// When the other side was last seen to have taken something.
  private(set) var last = NIODeadline.uptimeNanoseconds(0)
  private var waiting = 0
  /// Whether everything had arrived when it was looked at last.
  private(set) var hasAll = true

  /// Something was written.
  mutating func wrote() { hasAll = false }

  /// Looks again.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - count: counts the bytes that have not arrived yet, and causes no event; not called if everything has, since it
  ///     is a system call.
  mutating func look(at now: NIODeadline, _ count: () -> Int) {
    guard !hasAll else { return }
    let left = count()
    if left < waiting { last = now }
    waiting = left
    hasAll = left == 0
  }
}

extension ChannelHandlerContext {
  /// The bytes that were written and have not arrived at the other side yet: those that wait here, and the kernel's.
  var unsentBytes: Int {
    let buffered = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    let held = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      Int(directdns_unsent($0))
    }
    return buffered + (held ?? 0)
  }
}
