// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import DirectDNS

/// A port that takes connections, or not even that, and never says a word.
final class SilentAddress: Sendable {
  let address: IPAddress
  private let listener: CInt
  /// Connections that fill the queue of the kernel, so that it drops what else comes.
  private let filling: [CInt]

  /// Listens at an IPv4 address; unless it accepts connections, the kernel drops their first packet.
  init?(_ address: String, port: Int, accepts: Bool) {
    self.address = Sample.address(address)
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = in_port_t(port).bigEndian
    place.sin_addr.s_addr = unsafe inet_addr(address)
    func call(_ socket: CInt, _ body: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
      unsafe withUnsafePointer(to: &place) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe body(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    func stream() -> CInt { socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0) }
    listener = stream()
    guard unsafe call(listener, bind) == 0, listen(listener, accepts ? 128 : 0) == 0 else { return nil }
    filling = accepts ? [] : (0..<4).map { _ in stream() }
    for socket in filling { unsafe _ = call(socket, connect) }
    // A busy kernel may be late with loopback's packets: until one has come there is room for another.
    guard accepts || hasConnection(within: 20_000) else { return nil }
  }

  deinit { for socket in filling + [listener] { close(socket) } }

  /// Whether a connection has come that was not taken.
  var hasConnection: Bool { hasConnection(within: 0) }

  private func hasConnection(within milliseconds: CInt) -> Bool {
    var listening = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&listening, 1, milliseconds) == 1
  }

  /// How many connections have come since this was called last.
  func takeConnections() -> Int {
    var count = 0
    while true {
      let socket = accept(listener, nil, nil)
      guard socket >= 0 else { return count }
      close(socket)
      count += 1
    }
  }
}
