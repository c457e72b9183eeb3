// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSPrometheus

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A client that sends what it is told, and reads to the end.
final class Client {
  private let socket: EndpointSocket

  init(_ port: UInt16) throws {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    let descriptor = Self.systemSocket(AF_INET, kind)
    socket = EndpointSocket(descriptor: descriptor)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let status = unsafe withUnsafePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe connect(descriptor, name, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0)
  }

  deinit { socket.close() }

  private static func systemSocket(_ family: Int32, _ kind: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.socket(family, kind, 0)
    #else
      Glibc.socket(family, kind, 0)
    #endif
  }

  /// Sends as much as the other end takes.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, case .moved(let count) = socket.write(rest) { rest = rest.dropFirst(count) }
  }

  /// All that comes, until the other end closes.
  func rest() -> String {
    var bytes: [UInt8] = []
    while case .moved = socket.read(into: &bytes) {}
    return String(decoding: bytes, as: UTF8.self)
  }
}
