// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A plain connection to a port of this machine, for a fixture that reads and writes by itself.
enum LoopbackConnection {
  /// Connects, and gives the descriptor; -1 where nobody listens.
  static func open(to port: Int) -> CInt {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = CInt(SOCK_STREAM.rawValue)
    #endif
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = in_port_t(port).bigEndian
    place.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let connection = socket(AF_INET, kind, 0)
    let status = unsafe withUnsafePointer(to: &place) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status != 0 else { return connection }
    close(connection)
    return -1
  }
}
