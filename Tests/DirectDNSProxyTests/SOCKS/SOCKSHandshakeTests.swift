// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("SOCKS handshakes")
struct SOCKSHandshakeTests {
  /// What a handshake says and does, fed byte by byte or at once.
  private func steps(_ bytes: [UInt8], by size: Int, wantsUser: Bool = false, isCorrect: Bool = true) -> [String] {
    var handshake = SOCKSHandshake(wantsUser: wantsUser)
    var held: ArraySlice<UInt8> = []
    var steps: [String] = []
    func take(_ step: SOCKSHandshake.Step) -> Bool {
      switch step {
      case .wait: return false
      case .send(let bytes): steps.append("send \(bytes)")
      case .authenticate(let credentials):
        steps.append("authenticate \(credentials.name) \(String(decoding: credentials.password, as: UTF8.self))")
        return take(handshake.authenticated(isCorrect))
      case .connect(let origin): steps.append("connect \(origin)")
      case .refuse(let bytes, let fault): steps.append("refuse \(bytes) \(fault)")
      }
      return true
    }
    for start in stride(from: 0, to: bytes.count, by: size) {
      held += bytes[start..<min(start + size, bytes.count)]
      while !held.isEmpty, take(handshake.read(&held)) {}
    }
    if !held.isEmpty { steps.append("left \(Array(held))") }
    return steps
  }

  private static let name: [UInt8] = [5, 1, 0, 3, 9] + Array("a.example".utf8) + [1, 187]

  private static let requests: [([UInt8], String)] = [
    (name, "connect a.example:443"), ([5, 1, 0, 1, 192, 0, 2, 1, 0, 80], "connect 192.0.2.1:80"),
    ([5, 1, 0, 4, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80], "connect [2001:db8::1]:80"),
    ([5, 1, 0, 3, 3, 0x3a, 0x3a, 0x31, 0, 80], "connect [::1]:80"),
    ([5, 2, 0, 1, 192, 0, 2, 1, 0, 80], "refuse [5, 7, 0, 1, 0, 0, 0, 0, 0, 0] request"),
    ([5, 3, 0, 1, 192, 0, 2, 1, 0, 80], "refuse [5, 7, 0, 1, 0, 0, 0, 0, 0, 0] request"),
    ([4, 1, 0, 1, 192, 0, 2, 1, 0, 80], "refuse [5, 7, 0, 1, 0, 0, 0, 0, 0, 0] request"),
    ([5, 1, 0, 9, 192, 0, 2, 1, 0, 80], "refuse [5, 8, 0, 1, 0, 0, 0, 0, 0, 0] request"),
    ([5, 1, 0, 3, 3, 0x61, 0x20, 0x62, 0, 80], "refuse [5, 1, 0, 1, 0, 0, 0, 0, 0, 0] request"),
    ([5, 1, 0, 1, 192, 0, 2, 1, 0, 0], "refuse [5, 1, 0, 1, 0, 0, 0, 0, 0, 0] request"),
    ([5, 1, 0, 3, 0, 0, 80], "refuse [5, 1, 0, 1, 0, 0, 0, 0, 0, 0] request"),
  ]

  @Test(arguments: requests)
  func `SOCKS5 without a password goes from greeting to request`(request: [UInt8], outcome: String) {
    for size in [1, 3, 1000] {
      let steps = steps([5, 2, 1, 0] + request, by: size)
      #expect(steps.prefix(2) == ["send [5, 0]", outcome])
    }
  }

  @Test func `SOCKS5 with a password has it checked`() {
    let credentials: [UInt8] = [1, 3] + Array("ann".utf8) + [4] + Array("pass".utf8)
    for size in [1, 1000] {
      #expect(
        steps([5, 1, 2] + credentials + Self.name, by: size, wantsUser: true)
          == ["send [5, 2]", "authenticate ann pass", "send [1, 0]", "connect a.example:443"])
      #expect(
        steps([5, 1, 2] + credentials, by: size, wantsUser: true, isCorrect: false)
          == ["send [5, 2]", "authenticate ann pass", "refuse [1, 1] credentials"])
    }
  }

  @Test func `a name and a password of another version are refused, and empty ones are checked`() {
    let credentials: [UInt8] = [5, 1, 0x61, 1, 0x62]
    #expect(
      steps([5, 1, 2] + credentials, by: 1, wantsUser: true) == ["send [5, 2]", "refuse [1, 1] request"])
    #expect(
      steps([5, 1, 2, 1, 0, 0], by: 1, wantsUser: true, isCorrect: false)
        == ["send [5, 2]", "authenticate  ", "refuse [1, 1] credentials"])
  }

  @Test func `a client that offers no way that is wanted is refused`() {
    #expect(steps([5, 1, 0], by: 1, wantsUser: true) == ["refuse [5, 255] credentials"])
    #expect(steps([5, 1, 2], by: 1) == ["refuse [5, 255] request"])
    #expect(steps([5, 0], by: 1) == ["refuse [5, 255] request"])
  }

  private static let oldRequests: [([UInt8], String)] = [
    ([4, 1, 0, 80, 192, 0, 2, 1, 0], "connect 192.0.2.1:80"),
    ([4, 1, 0, 80, 192, 0, 2, 1, 0x61, 0x6e, 0], "connect 192.0.2.1:80"),
    ([4, 1, 1, 187, 0, 0, 0, 7, 0x78, 0, 0x61, 0x2e, 0x62, 0], "connect a.b:443"),
    ([4, 1, 0, 80, 0, 0, 0, 0, 0], "connect 0.0.0.0:80"), ([4, 1, 0, 80, 0, 0, 1, 7, 0], "connect 0.0.1.7:80"),
    ([4, 1, 0, 80, 0, 1, 0, 7, 0], "connect 0.1.0.7:80"), ([4, 1, 0, 80, 1, 0, 0, 7, 0], "connect 1.0.0.7:80"),
    ([4, 2, 0, 80, 192, 0, 2, 1, 0], "refuse [0, 91, 0, 0, 0, 0, 0, 0] request"),
    ([4, 1, 0, 80, 0, 0, 0, 1, 0, 0], "refuse [0, 91, 0, 0, 0, 0, 0, 0] request"),
  ]

  @Test(arguments: oldRequests)
  func `SOCKS4 names an address, SOCKS4a a name`(request: [UInt8], outcome: String) {
    for size in [1, 1000] { #expect(steps(request, by: size) == [outcome]) }
  }

  @Test(arguments: [255, 256, 400])
  func `a user or a name of SOCKS4 that is longer than 255 is refused, however the bytes are cut`(length: Int) {
    let (head, long): ([UInt8], [UInt8]) = ([4, 1, 0, 80, 0, 0, 0, 1], Array(repeating: 0x61, count: length))
    let refused = ["refuse [0, 91, 0, 0, 0, 0, 0, 0] request"]
    for size in [1, 100, 1000] {
      #expect(
        steps(head + long + [0] + Array("a.b".utf8) + [0], by: size).prefix(1)
          == (length == 255 ? ["connect a.b:80"] : refused)[...])
      let name = steps(head + [0x78, 0] + long + [0], by: size).prefix(1)
      #expect(length == 255 ? name.first?.hasPrefix("connect aaa") == true : name == refused[...])
    }
  }

  @Test func `SOCKS4 has no password`() {
    #expect(
      steps([4, 1, 0, 80, 192, 0, 2, 1, 0], by: 1, wantsUser: true)
        == ["refuse [0, 91, 0, 0, 0, 0, 0, 0] credentials"])
  }

  @Test func `what comes right behind a request is left`() {
    #expect(
      steps([5, 1, 0] + Self.name + [0x16, 3], by: 1000) == ["send [5, 0]", "connect a.example:443", "left [22, 3]"])
  }

  @Test func `names without an end are refused`() {
    let endless: [UInt8] = [4, 1, 0, 80, 0, 0, 0, 7] + Array(repeating: 0x61, count: 600)
    #expect(steps(endless, by: 1000).first == "refuse [0, 91, 0, 0, 0, 0, 0, 0] request")
  }

  @Test func `refusals of the proxy have SOCKS5's numbers`() {
    #expect(SOCKSHandshake.Reply(ProxyRefusal(403, "destination_ip_prohibited", "")) == .forbidden)
    #expect(SOCKSHandshake.Reply(ProxyRefusal(502, "connection_refused", "")) == .refusedConnection)
    #expect(SOCKSHandshake.Reply(ProxyRefusal(502, "dns_error; rcode=\"NXDOMAIN\"", "")) == .unreachableHost)
    #expect(SOCKSHandshake.Reply(ProxyRefusal(500, nil, "")) == .failed)
  }
}
