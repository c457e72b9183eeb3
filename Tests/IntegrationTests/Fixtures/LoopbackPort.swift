// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Ports on 127.0.0.1.
enum LoopbackPort {
  // glibc's are cases of an enumeration that its own `socket` does not take.
  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    private static let datagram = Int32(SOCK_DGRAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
    private static let datagram = SOCK_DGRAM
  #endif

  /// Ports that were given out: the kernel may offer one again before its server has bound it.
  private static let given = Mutex<Set<UInt16>>([])

  /// A port that is free for TCP and for UDP, and that no other server of this process was given.
  static func free() throws -> UInt16 {
    for _ in 0..<100 {
      guard let port = bound(stream, port: 0), bound(datagram, port: port) == port else { continue }
      if given.withLock({ $0.insert(port).inserted }) { return port }
    }
    throw ServerFixture.Failure("no free port on 127.0.0.1")
  }

  /// Whether a TCP connection to the port is accepted right now.
  static func accepts(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, stream, 0)
    defer { close(descriptor) }
    return unsafe withAddress(port: port) { unsafe connect(descriptor, $0, $1) } == 0
  }

  /// A connection that says nothing and is held until this is gone.
  final class SilentClient: Sendable {
    private let descriptor: Int32

    init(_ port: UInt16) throws {
      let descriptor = socket(AF_INET, stream, 0)
      self.descriptor = descriptor
      guard unsafe (withAddress(port: port) { unsafe connect(descriptor, $0, $1) }) == 0 else {
        throw ServerFixture.Failure("nobody accepts at \(port)")
      }
    }

    deinit { close(descriptor) }
  }

  /// Binds a socket for a moment.
  ///
  /// - Returns: The port it had, or nothing if it could not be had.
  private static func bound(_ type: Int32, port: UInt16) -> UInt16? {
    let descriptor = socket(AF_INET, type, 0)
    defer { close(descriptor) }
    guard unsafe withAddress(port: port, { unsafe bind(descriptor, $0, $1) }) == 0 else { return nil }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length)
      }
    }
    return status == 0 ? UInt16(bigEndian: address.sin_port) : nil
  }

  private static func withAddress(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
