// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import Testing

@testable import DirectDNSProxy

@Suite("Where a proxy listens")
struct ListenAddressTests {
  @Test(arguments: ["127.0.0.1:3128", "[::1]:0", "0.0.0.0:65535", "unix:/run/proxy.sock", "unix:relative", "unix:./@x"])
  func `an address is written as it is read`(text: String) throws {
    #expect("\(try ListenAddress(text))" == text)
  }

  @Test func `localhost is 127_0_0_1`() throws { #expect("\(try ListenAddress("localhost:1"))" == "127.0.0.1:1") }

  @Test(arguments: [
    "", "3128", ":3128", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+80", "::1:3128",
    "[127.0.0.1]:1", "example.com:3128", "unix:", "unix:@proxy", "unix:" + String(repeating: "a", count: 108),
    "[::1]3128",
  ])
  func `what is none is refused with the text and a way to write it`(text: String) {
    #expect {
      try ListenAddress(text)
    } throws: { error in
      let error = error as? DirectDNSError
      return error?.code == .invalidConfiguration && error?.message.hasPrefix(text) == true
    }
  }

  @Test func `an empty path is told as that`() {
    #expect {
      try ListenAddress("unix:")
    } throws: {
      "\($0)".contains("unix: names no path: write unix:PATH")
    }
  }

  @Test func `other machines reach all but loopback and the file system`() throws {
    #expect(try ListenAddress("0.0.0.0:1").isRemote)
    #expect(try ListenAddress("192.0.2.1:1").isRemote)
    #expect(try !ListenAddress("127.1.2.3:1").isRemote)
    #expect(try !ListenAddress("[::1]:1").isRemote)
    #expect(try !ListenAddress("unix:/x").isRemote)
  }

  @Test func `a socket without a path, which no mode guards, is no place to listen at`() throws {
    #expect(ListenAddress(try SocketAddress(unixDomainSocketPath: "\u{0}proxy")) == nil)
    #expect(ListenAddress(try SocketAddress(unixDomainSocketPath: "/run/proxy")) == .unix(path: "/run/proxy"))
  }
}
