// SPDX-License-Identifier: Apache-2.0
import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A plain socket that listens on loopback, for a server whose every call is a test's own.
///
/// Whoever accepts connections closes it: a number that is closed under accept(2) could by then be another's socket.
struct LoopbackListener: Sendable {
  let descriptor: CInt
  let port: UInt16

  /// Nil where the system has no socket to give.
  init?() {
    #if canImport(Glibc)
      let kind = CInt(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let listener = socket(AF_INET, kind, 0)
    guard listener >= 0 else { return nil }
    guard let place = try? SocketAddress(ipAddress: "127.0.0.1", port: 0), Self.listens(listener, at: place) else {
      close(listener)
      return nil
    }
    // Behind the family, in the order of the network (ip(7)).
    var bound = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
    var size = socklen_t(bound.count)
    _ = unsafe bound.withUnsafeMutableBytes { bound in
      unsafe bound.withMemoryRebound(to: sockaddr.self) { unsafe getsockname(listener, $0.baseAddress, &size) }
    }
    (descriptor, port) = (listener, UInt16(bound[2]) << 8 | UInt16(bound[3]))
  }

  // By SwiftNIO's address: which module has the members of the system's is chance where SwiftNIO is imported, since its
  // own C modules take in the same headers.
  private static func listens(_ listener: CInt, at place: SocketAddress) -> Bool {
    unsafe place.withSockAddr { place, size in
      unsafe bind(listener, place, socklen_t(size)) == 0 && listen(listener, 8) == 0
    }
  }
}
