// SPDX-License-Identifier: Apache-2.0
import Foundation
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

  /// Ports that were given out: another server may ask before the first one has bound its own.
  private static let given = Mutex<Set<UInt16>>([])

  /// Below the ports that the kernel gives to connections and to servers without one of their own
  /// (`net.ipv4.ip_local_port_range`; 49152 and above elsewhere): between a server's end and its next start, or before its
  /// first, such a port can be taken by any connection on the machine.
  private static let range: Range<UInt16> = {
    let setting = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
    let first = setting?.split(whereSeparator: \.isWhitespace).first.flatMap { UInt16($0) } ?? 32_768
    return first > 11_000 ? 10_000..<first : 10_000..<32_768
  }()

  /// A port that is free for TCP and for UDP, and that no other server of this process was given.
  static func free() throws -> UInt16 {
    for _ in 0..<1_000 {
      let port = UInt16.random(in: range)
      guard canBind(stream, to: port), canBind(datagram, to: port) else { continue }
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

  /// Binds a socket for a moment, if the port can be had.
  private static func canBind(_ type: Int32, to port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, type, 0)
    defer { close(descriptor) }
    return unsafe withAddress(port: port) { unsafe bind(descriptor, $0, $1) } == 0
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
