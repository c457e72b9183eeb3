// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

extension SocketAddress {
  /// The address without its port; nil for a Unix socket.
  var ipAddressValue: IPAddress? {
    // After the family and the port, and with IPv6 the flow label (RFC 3493 §3.3).
    let place: Range<Int>
    switch self {
    case .v4: place = 4..<8
    case .v6: place = 8..<24
    default: return nil
    }
    return unsafe withSockAddr { address, size in
      unsafe IPAddress(bytes: UnsafeRawBufferPointer(start: address, count: size)[place])
    }
  }
}
