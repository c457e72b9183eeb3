// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import Testing

@testable import DirectDNSProxy

@Suite("What is said to another proxy")
struct UpstreamHandshakeTests {
  private static let address = ForwardOrigin(.address(.ipv4(0xC000_0201)), port: 443)

  private func handshake(_ url: String, to target: ForwardOrigin = UpstreamHandshakeTests.address) throws
    -> UpstreamHandshake
  {
    UpstreamHandshake(try UpstreamProxy(url), to: target, headSize: 1024)
  }

  /// What comes of bytes that come one by one, and what is left of them.
  private func run(
    _ handshake: UpstreamHandshake, _ answer: [UInt8]
  ) -> (said: [[UInt8]], end: UpstreamHandshake.Step, rest: Int) {
    var (handshake, said) = (handshake, [[UInt8]]())
    var buffer = ByteBuffer()
    for (index, byte) in answer.enumerated() {
      buffer.writeInteger(byte)
      steps: while true {
        switch handshake.read(&buffer) {
        case .wait: break steps
        case .send(let bytes): said.append(bytes)
        case let step: return (said, step, answer.count - index - 1 + buffer.readableBytes)
        }
      }
    }
    return (said, .wait, buffer.readableBytes)
  }

  @Test func `CONNECT names an address, and who asks`() throws {
    let plain = try handshake("http://proxy.example")
    #expect(
      String(decoding: plain.beginning, as: UTF8.self)
        == "CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n")
    let known = try handshake("http://u:p@proxy.example")
    #expect(String(decoding: known.beginning, as: UTF8.self).contains("\r\nProxy-Authorization: Basic dTpw\r\n\r\n"))
  }

  @Test func `what comes behind the response is the origin's, whatever length it tells`() throws {
    let answer = "HTTP/1.1 100 Wait\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nssh"
    let (said, end, rest) = run(try handshake("http://proxy.example"), Array(answer.utf8))
    #expect(said.isEmpty && end == .connected && rest == 3)
  }

  @Test func `what was searched for the head's end is not searched again`() throws {
    var handshake = try handshake("http://proxy.example")
    var buffer = ByteBuffer(string: "HTTP/1.1 100 Wait\r\n\r\nHTTP/1.1 200 OK\r\nX: ")
    #expect(handshake.read(&buffer) == .wait)
    // A carriage return alone, which nothing may have, at a place that was read.
    buffer.setInteger(UInt8(0x0d), at: buffer.readerIndex + 10)
    buffer.writeString("y\r\n")
    #expect(handshake.read(&buffer) == .wait)
    buffer.setInteger(UInt8(ascii: "0"), at: buffer.readerIndex + 10)
    buffer.writeString("\r\n")
    #expect(handshake.read(&buffer) == .connected && buffer.readableBytes == 0)
  }

  @Test(
    arguments: [
      ("403 Forbidden", "", 403, "http_request_denied", true), ("502 Bad", "", 502, "destination_unavailable", true),
      ("504 Late", "", 504, "connection_timeout", true), ("302 Else", "", 502, "destination_unavailable", true),
      ("407 Who", "", 502, "destination_unavailable", false),
      ("502 Bad", "Proxy-Status: squid; error=connection_refused; details=x\r\n", 502, "connection_refused", true),
      ("502 Bad", "Proxy-Status: squid; error=\"x\"\r\n", 502, "destination_unavailable", true),
      ("502 Bad", "Proxy-Status: squid; error=of_its_own\r\n", 502, "destination_unavailable", true),
    ] as [(String, String, Int, String, Bool)])
  func `a refusal is one of the target or of the proxy`(
    _ line: String, _ fields: String, _ status: Int, _ error: String, _ isAboutTarget: Bool
  ) throws {
    let answer = Array("HTTP/1.1 \(line)\r\n\(fields)\r\n".utf8)
    guard case .failed(let failure) = run(try handshake("http://u:p@proxy.example"), answer).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.status == status && failure.refusal.error == error)
    #expect(failure.isAboutTarget == isAboutTarget)
    #expect(failure.refusal.message.contains("http://proxy.example:3128"))
  }

  @Test(arguments: [
    ("SSH-2.0-x\r\n\r\n", "did not answer with an HTTP response: ", "http_protocol_error"),
    ("HTTP/1.1 200\rOK\r\n\r\n", "did not answer with an HTTP response: ", "http_protocol_error"),
    ("HTTP/1.1 200 OK\n\n", "did not answer with an HTTP response: ", "http_protocol_error"),
    (
      "HTTP/1.1 200 " + String(repeating: "x", count: 2000), "answered with a header that is too large.",
      "http_response_header_section_size"
    ),
    ("HTTP/2.0 200 OK\r\n\r\n", "answered in another version of HTTP.", "http_protocol_error"),
  ])
  func `an answer that is not an HTTP response is told as that of an origin`(
    _ answer: String, _ words: String, _ error: String
  ) throws {
    guard case .failed(let failure) = run(try handshake("http://proxy.example"), Array(answer.utf8)).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.error == error && !failure.isAboutTarget)
    let upstream = try UpstreamProxy("http://proxy.example")
    #expect(failure.refusal.message.hasPrefix("The upstream proxy \(upstream) \(words)"), "\(failure.refusal.message)")
  }

  @Test(arguments: ["http", "socks5"])
  func `one that closes the connection is of no use at that address alone`(_ scheme: String) throws {
    let failure = try handshake("\(scheme)://proxy.example").cutOff
    #expect(failure.isAboutAddress && !failure.isAboutTarget)
    #expect(failure.refusal.status == 502 && failure.refusal.error == "connection_terminated")
    #expect(failure.refusal.message.hasSuffix(" cannot be used: it closed the connection."))
  }

  @Test func `SOCKS5 that closes the connection once it knows the target does not connect to that`() throws {
    var handshake = try handshake("socks5://proxy.example")
    var buffer = ByteBuffer(bytes: [5, 0])
    guard case .send = handshake.read(&buffer) else {
      Issue.record("no target")
      return
    }
    let failure = handshake.cutOff
    #expect(failure.isAboutTarget && !failure.isAboutAddress && failure.refusal.error == "connection_terminated")
    let words = " does not connect to 192.0.2.1:443: it closed the connection, as ssh -D does."
    #expect(failure.refusal.message.hasSuffix(words), "\(failure.refusal.message)")
  }

  @Test func `SOCKS5 that closes the connection once it knows a name may be of no use at that address alone`() throws {
    var handshake = try handshake("socks5h://proxy.example", to: ForwardOrigin(.name("a.test"), port: 80))
    var buffer = ByteBuffer(bytes: [5, 0])
    guard case .send = handshake.read(&buffer) else {
      Issue.record("no target")
      return
    }
    let failure = handshake.cutOff
    #expect(failure.isAboutTarget && failure.isAboutAddress && failure.refusal.error == "connection_terminated")
    let words = " does not connect to a.test:80: it closed the connection, as ssh -D does."
    #expect(failure.refusal.message.hasSuffix(words), "\(failure.refusal.message)")
  }

  @Test(arguments: [("502 Bad", "502 Bad."), ("502 Cut...", "502 Cut..."), ("502 ", "502."), ("502", "502.")])
  func `a refusal repeats the reason phrase, if there is one`(_ line: String, _ words: String) throws {
    let answer = Array("HTTP/1.1 \(line)\r\n\r\n".utf8)
    guard case .failed(let failure) = run(try handshake("http://proxy.example"), answer).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.message.hasSuffix(": it answered \(words)"), "\(failure.refusal.message)")
  }

  @Test func `what a refusal says cannot do anything to a terminal`() throws {
    let answer = Array("HTTP/1.1 502 Bad\u{1b}[2J\r\n\r\n".utf8)
    guard case .failed(let failure) = run(try handshake("http://proxy.example"), answer).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.message.contains("it answered 502 Bad") && !failure.refusal.message.contains("\u{1b}"))
  }

  @Test func `a head that is too large is, though it comes at once`() throws {
    var handshake = try handshake("http://proxy.example")
    var buffer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 1024))\r\n\r\n")
    guard case .failed(let failure) = handshake.read(&buffer) else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.error == "http_response_header_section_size" && !failure.isAboutTarget)
  }

  @Test(arguments: [[4, 0], [72, 84], [5, 0, 4, 0, 0, 1], [5, 0, 5, 0, 0, 9, 0]] as [[UInt8]])
  func `an answer that is not SOCKS5's is told as that`(_ answer: [UInt8]) throws {
    guard case .failed(let failure) = run(try handshake("socks5://proxy.example"), answer).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.error == "http_protocol_error" && !failure.isAboutTarget)
  }

  @Test func `a proxy that wants a password is not sent one that there is not`() throws {
    let (said, end, _) = run(try handshake("socks5://proxy.example"), [5, 2])
    guard case .failed(let failure) = end else {
      Issue.record("no failure")
      return
    }
    #expect(said.isEmpty && !failure.isAboutTarget)
    #expect(failure.refusal.message.contains("wants a name and a password"))
  }

  @Test func `SOCKS5 is told an address, or a name where it looks names up`() throws {
    let plain = try handshake("socks5://proxy.example")
    #expect(plain.beginning == [5, 1, 0])
    let (said, end, rest) = run(plain, [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7])
    #expect(said == [[5, 1, 0, 1, 192, 0, 2, 1, 1, 187]] && end == .connected && rest == 1)
    let named = try handshake("socks5h://proxy.example", to: ForwardOrigin(.name("a.test"), port: 80))
    #expect(run(named, [5, 0, 5, 0, 0, 3, 1, 0x61, 0, 0]).said == [[5, 1, 0, 3, 6] + Array("a.test".utf8) + [0, 80]])
    let ipv6 = try handshake("socks5://a", to: ForwardOrigin(.address(.ipv6(high: 1, low: 2)), port: 80))
    #expect(run(ipv6, [5, 0]).said.first?.prefix(4) == [5, 1, 0, 4] && run(ipv6, [5, 0]).said.first?.count == 22)
  }

  @Test func `SOCKS5 gets name and password where it asks for them`() throws {
    let known = try handshake("socks5://u:pw@proxy.example")
    #expect(known.beginning == [5, 2, 0, 2])
    let said = run(known, [5, 2, 1, 0]).said
    #expect(said.first == [1, 1, 0x75, 2, 0x70, 0x77] && said.count == 2)
    for answer in [[5, 0xff], [5, 2, 1, 1]] as [[UInt8]] {
      guard case .failed(let failure) = run(known, answer).end else {
        Issue.record("no failure")
        continue
      }
      #expect(failure.refusal.message.contains("does not take the name") && !failure.isAboutTarget)
    }
  }

  /// As a program can set them afterwards: reading a URL refuses them.
  @Test(arguments: [(256, 1), (1, 256)])
  func `a name or a password that SOCKS5 has no room for is an error`(_ name: Int, _ password: Int) throws {
    var upstream = try UpstreamProxy("socks5://u:p@proxy.example")
    upstream.user = String(repeating: "u", count: name)
    upstream.password = Secret(String(repeating: "p", count: password))
    let handshake = UpstreamHandshake(upstream, to: Self.address, headSize: 1024)
    guard case .failed(let failure) = run(handshake, [5, 2]).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.error == "proxy_configuration_error" && failure.refusal.message.contains("255 bytes"))
  }

  @Test(arguments: [("192.0.2.1", "IPv4 addresses."), ("[2001:db8::1]", "IPv6 addresses."), ("a.test", "names, ")])
  func `a kind of target that SOCKS5 does not take is named`(_ host: String, _ words: String) throws {
    let target = ForwardOrigin(try WebURL.Host(host), port: 80)
    guard case .failed(let failure) = run(try handshake("socks5h://a", to: target), [5, 0, 5, 8]).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.message.contains(": it takes no \(words)"), "\(failure.refusal.message)")
  }

  @Test(
    arguments: [
      (2, 403, "http_request_denied"), (3, 502, "destination_ip_unroutable"), (4, 502, "destination_ip_unroutable"),
      (5, 502, "connection_refused"), (6, 504, "connection_timeout"), (1, 502, "destination_unavailable"),
    ] as [(UInt8, Int, String)])
  func `a reply of SOCKS5 is an error of RFC 9209`(_ code: UInt8, _ status: Int, _ error: String) throws {
    guard case .failed(let failure) = run(try handshake("socks5://a"), [5, 0, 5, code]).end else {
      Issue.record("no failure")
      return
    }
    #expect(failure.refusal.status == status && failure.refusal.error == error && failure.isAboutTarget)
  }
}
