// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct UpstreamProxyTests {
  @Test(arguments: [
    ("http://proxy.example", "http://proxy.example:3128"), ("HTTP://proxy.example:80/", "http://proxy.example:80"),
    ("http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080"), ("socks5://127.0.0.1", "socks5://127.0.0.1:1080"),
    ("socks5h://proxy.example:1", "socks5h://proxy.example:1"),
    ("http://ann:s%40fe@proxy.example:8080", "http://proxy.example:8080"),
  ])
  func `a URL says what it speaks and where it is, and shows no credentials`(_ text: String, _ shown: String) throws {
    #expect(try UpstreamProxy(text).description == shown)
  }

  @Test func `user name and password stand in the URL, escaped`() throws {
    let proxy = try UpstreamProxy("socks5://ann:s%40fe@proxy.example")
    #expect(proxy.user == "ann" && proxy.password?.text == "s@fe")
    #expect(!"\(proxy)".contains("ann"))
    #expect(try UpstreamProxy("http://proxy.example").user == nil)
  }

  @Test(arguments: [("http://a", false), ("socks5://a", false), ("socks5h://a", true)])
  func `socks5h is told names, and so is any that is meant to be`(_ text: String, _ resolves: Bool) throws {
    #expect(try UpstreamProxy(text).resolvesNames == resolves)
    #expect(try UpstreamProxy(text, resolvesNames: true).resolvesNames)
  }

  @Test(arguments: [
    ("https://proxy.example", "no TLS"), ("proxy.example:3128", "http://HOST:PORT"), ("ftp://a", "http://HOST:PORT"),
    ("http://a/path", "ends behind its port"), ("http://a?b", "ends behind its port"),
    ("http://ann:secret@a:0x", "port is not a number"),
    ("http://a%3Ab:c@d", "colon"), ("http://a:0", "port is 0"), ("socks5://[::1]:00", "port is 0"),
    ("socks5://a:\(String(repeating: "x", count: 256))@d", "255 bytes"),
  ])
  func `what cannot be used is refused with the reason, and without a password`(_ text: String, _ words: String) {
    let error = #expect(throws: DirectDNSError.self) { try UpstreamProxy(text) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains(words) == true)
    #expect(error?.message.contains("secret") == false)
  }

  @Test func `what is set later is checked by the same rules`() throws {
    let changes: [(text: String, words: String, change: (inout UpstreamProxy) -> Void)] = [
      ("http://a", "port is 0", { $0.port = 0 }), ("http://a", "colon", { $0.user = "a:b" }),
      ("socks5://a", "255 bytes", { $0.password = Secret(String(repeating: "x", count: 256)) }),
    ]
    for (text, words, change) in changes {
      var proxy = try UpstreamProxy(text)
      try proxy.validate()
      change(&proxy)
      let error = #expect(throws: DirectDNSError.self) { try proxy.validate() }
      #expect(error?.code == .invalidConfiguration && error?.message.contains(words) == true)
    }
  }
}
