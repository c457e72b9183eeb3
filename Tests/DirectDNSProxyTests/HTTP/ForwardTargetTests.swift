// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("Where requests go")
struct ForwardTargetTests {
  private func target(_ method: String, _ target: String) throws -> ForwardTarget {
    try ForwardTarget.of(HeadParser.parse(Array("\(method) \(target) HTTP/1.1\r\n\r\n".utf8), .request))
  }

  @Test(arguments: [
    ("GET", "http://a.example/x?y=1", "a.example:80", "/x?y=1"), ("GET", "http://a.example", "a.example:80", "/"),
    ("GET", "http://a.example?a=1", "a.example:80", "/?a=1"), ("OPTIONS", "http://a.example", "a.example:80", "*"),
    ("OPTIONS", "http://a.example/", "a.example:80", "/"), ("GET", "HTTP://A.Example:8080/", "a.example:8080", "/"),
    ("GET", "ws://a.example/socket", "a.example:80", "/socket"),
    ("GET", "http://a.example/a/../b//c", "a.example:80", "/a/../b//c"),
    ("GET", "http://a.example/%2F%zz", "a.example:80", "/%2F%zz"),
    ("GET", "http://a.example/x#y", "a.example:80", "/x"),
    ("GET", "http://[::1]:81/x", "[::1]:81", "/x"), ("GET", "http://0x7f.1/", "127.0.0.1:80", "/"),
    ("GET", "http://a.example/é", "a.example:80", "/é"), ("GET", "http://a.example:/x", "a.example:80", "/x"),
  ])
  func `an absolute form keeps its path to the byte`(
    method: String, text: String, origin: String, path: String
  ) throws {
    guard case .absolute(let found, let foundPath, _) = try target(method, text) else { throw MessageFault.version }
    #expect("\(found)" == origin)
    #expect(String(decoding: foundPath, as: UTF8.self) == path)
  }

  @Test(arguments: [
    "https://a.example/", "ftp://a.example/", "a.example/", "http:/a.example/", "http:///x",
    "http://u:p@", "http://a.example\\@evil.example/x", "http://u@b.example@a.example/",
    "http://u@a.example\\@b.example/", "http://@@a.example/", "http://@/", "http://@", "http://@:80/",
    "http://a.example:99999/", "http://a.example:x/", "http://a b/", "http://:80/", "*",
    "http://[::1/", "http://[fe80::1%25eth0]/",
  ])
  func `what is no URL of the web in the clear is refused`(text: String) {
    #expect(throws: MessageFault.self) { try target("GET", text) }
  }

  @Test(arguments: [
    ("http://u:p@a.example/x", "Basic dTpw", "/x"), ("http://u@a.example:81", "Basic dTo=", "/"),
    ("http://us%65r:pa%3Ass%40@a.example/@y", "Basic dXNlcjpwYTpzc0A=", "/@y"), ("http://a.example/u@b", nil, "/u@b"),
    ("http://@a.example/x", nil, "/x"),
  ])
  func `user info in a URL is for Authorization`(text: String, value: String?, path: String) throws {
    guard case .absolute(let origin, let foundPath, let found) = try target("GET", text) else {
      throw MessageFault.version
    }
    #expect(origin.host == .name("a.example"))
    #expect(found == value)
    #expect(String(decoding: foundPath, as: UTF8.self) == path)
  }

  @Test(arguments: ["https://a.example/", "wss://a.example/", "ftp://a.example/"])
  func `a URL of another scheme is refused with the way to ask for it`(text: String) {
    #expect {
      try target("GET", text)
    } throws: {
      "\($0)".contains("only http:// URLs are forwarded: send CONNECT HOST:PORT")
    }
  }

  @Test(arguments: [
    ("a.example:443", "a.example:443"), ("[2001:db8::1]:8443", "[2001:db8::1]:8443"), ("192.0.2.1:80", "192.0.2.1:80"),
  ])
  func `CONNECT names a host and a port`(text: String, origin: String) throws {
    guard case .authority(let found) = try target("CONNECT", text) else { throw MessageFault.version }
    #expect("\(found)" == origin)
  }

  @Test(arguments: [
    "a.example", "a.example:", "a.example:0", "a.example:443/", "http://a.example:443", ":443", "a.example:65536",
    "u@a.example:443", "/", "*",
  ])
  func `CONNECT to what is no host and port is refused`(text: String) {
    #expect(throws: MessageFault.self) { try target("CONNECT", text) }
  }

  @Test func `an origin form is for the proxy itself`() throws {
    #expect(try target("GET", "/proxy.pac?x") == .own(path: "/proxy.pac"))
    #expect(try target("OPTIONS", "*") == .own(path: "*"))
    #expect(try target("GET", "//a.example/") == .own(path: "//a.example/"))
  }

  @Test func `Host has no port that everybody knows`() throws {
    guard case .absolute(let origin, _, _) = try target("GET", "http://a.example:80/") else {
      throw MessageFault.version
    }
    #expect(origin.hostField == "a.example")
    guard case .absolute(let other, _, _) = try target("GET", "http://a.example:443/") else {
      throw MessageFault.version
    }
    #expect(other.hostField == "a.example:443")
  }
}
