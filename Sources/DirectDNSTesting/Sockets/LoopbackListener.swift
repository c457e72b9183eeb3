// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
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
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = CInt(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, kind, 0)
    guard listener >= 0 else { return nil }
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = unsafe withUnsafeMutablePointer(to: &place) { place in
      unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
        unsafe bind(listener, place, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, place, &size) == 0
      }
    }
    guard listens else {
      close(listener)
      return nil
    }
    (descriptor, port) = (listener, UInt16(bigEndian: place.sin_port))
  }
}
