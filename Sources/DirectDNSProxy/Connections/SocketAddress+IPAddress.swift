// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

extension SocketAddress {
  /// The address without its port; nil for a Unix socket.
  ///
  /// Read as numbers and not as a collection of bytes: that took a twelfth of what a tunnel costs.
  var ipAddressValue: IPAddress? {
    if case .unixDomainSocket = self { return nil }
    return unsafe withSockAddr { address, size in
      let bytes = unsafe UnsafeRawBufferPointer(start: address, count: size)
      // After the family and the port, and with IPv6 the flow label (RFC 3493 §3.3).
      guard case .v6 = self else {
        return .ipv4(UInt32(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
      }
      let high = unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      let low = unsafe bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
      return .ipv6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }
  }
}
