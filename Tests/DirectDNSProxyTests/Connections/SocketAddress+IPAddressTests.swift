// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import Testing

@testable import DirectDNSProxy

@Suite("Addresses of sockets")
struct SocketAddressIPAddressTests {
  @Test(arguments: [
    "127.0.0.1", "0.0.0.0", "255.254.253.252", "::", "::1", "2001:db8:1:2:3:4:5:6", "ff02::fb", "::ffff:192.0.2.1",
  ])
  func `an address has all of its bytes, and in their order`(text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(try SocketAddress(ipAddress: text, port: 3128).ipAddressValue == address)
    #expect(try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: 1).ipAddressValue == address)
  }

  @Test func `a Unix socket has none`() throws {
    #expect(try SocketAddress(unixDomainSocketPath: "/run/proxy.sock").ipAddressValue == nil)
  }
}
