// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop
internal import CDirectDNSSockets
internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Connections that have vanished without a word while they were kept: a NAT has forgotten them, or this machine has
/// another address by now.
extension OriginHandler {
  /// How long a kept connection may leave a request unacknowledged that can be sent once more; the library's own client
  /// waits as long.
  ///
  /// The kernel would go on for a quarter of an hour (tcp(7), `tcp_retries2`).
  static let silenceLimit = TimeAmount.seconds(20)

  /// Has the kernel end the connection when nothing is acknowledged of what was sent for so long; nil for as long as
  /// the system waits.
  ///
  /// That counts for a side that takes nothing more, too: uploads and tunnels have times of their own for that.
  func limitSilence(to limit: TimeAmount?) {
    guard limit != allowedSilence else { return }
    allowedSilence = limit
    setSilence(UInt32(clamping: (limit?.nanoseconds ?? 0) / 1_000_000))
  }

  /// An error has ended the connection: if that was silence, the other ones that wait for requests to its address have
  /// mostly vanished with it, and each would have its request wait as long.
  func noteSilence(_ error: any Error) {
    guard (error as? IOError)?.errnoCode == ETIMEDOUT else { return }
    client?.loop.shared.closeIdle(to: address)
  }
}

extension ChannelHandlerContext {
  /// Whether the kernel has something that nobody has read, or the connection's end.
  var hasUnread: Bool {
    let peeked = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      directdns_peek($0)
    }
    return (peeked ?? -1) >= 0
  }

  /// Sets how many milliseconds the kernel waits for an acknowledgement; 0 for as long as the system does.
  func limitSilence(_ milliseconds: UInt32) {
    _ = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      directdns_limit_silence($0, milliseconds)
    }
  }
}
