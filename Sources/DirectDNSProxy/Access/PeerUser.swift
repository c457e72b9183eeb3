// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Whose process is at the other end of a Unix socket, as the kernel reports it (unix(7)): it cannot be forged.
enum PeerUser {
  /// Fails unless the client's user is one of the allowed ones.
  static func check(_ channel: any Channel, isOneOf allowed: Set<UInt32>) -> EventLoopFuture<Void> {
    guard let provider = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(Refusal())
    }
    #if canImport(Darwin)
      let user: EventLoopFuture<UInt32> = provider.unsafeGetSocketOption(
        level: .init(rawValue: 0), name: .init(rawValue: LOCAL_PEERCRED)
      ).map { (peer: xucred) in peer.cr_uid }
    #else
      let user: EventLoopFuture<UInt32> = provider.unsafeGetSocketOption(
        level: .socket, name: .init(rawValue: SO_PEERCRED)
      ).map { (peer: Credentials) in peer.uid }
    #endif
    return user.flatMapThrowing { guard allowed.contains($0) else { throw Refusal() } }
  }

  #if !canImport(Darwin)
    /// `struct ucred` of unix(7), which the C library declares only with `_GNU_SOURCE`.
    private struct Credentials {
      var pid: Int32
      var uid: UInt32
      var gid: UInt32
    }
  #endif

  private struct Refusal: Error {}
}
