// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

@Suite("What a head says")
struct MessageHeadTests {
  private func head(_ lines: String..., version: String = "HTTP/1.1") throws -> MessageHead {
    try HeadParser.parse(Array("GET / \(version)\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n".utf8), .request)
  }

  @Test(arguments: [
    ("HTTP/1.1", "", true), ("HTTP/1.1", "close", false), ("HTTP/1.1", "Keep-Alive, Close", false),
    ("HTTP/1.0", "", false), ("HTTP/1.0", "keep-alive", true), ("HTTP/1.0", "keep-alive, close", false),
  ])
  func `a connection is kept as RFC 9112 says`(version: String, value: String, isKept: Bool) throws {
    #expect(try head("Connection: \(value)", version: version).keepsConnection == isKept)
  }

  @Test func `a list goes over several fields, and empty members are none`() throws {
    let head = try head("Connection: a,, b", "X: no", "Connection: ,c ,")
    var tokens: [String] = []
    head.forEachToken(of: .connection) { tokens.append(head.text($0)) }
    #expect(tokens == ["a", "b", "c"])
    #expect(head.has("b", in: .connection))
    #expect(!head.has("no", in: .connection))
  }

  @Test(arguments: [
    ("Authorization: NTLM TlRM", true), ("Authorization: Negotiate", true), ("authorization: nEGOTIATE\tYII=", true),
    ("Authorization: Basic TlRM", false), ("Authorization: NTLMv3 x", false), ("Authorization:", false),
    ("WWW-Authenticate: Basic realm=\"a\",Negotiate", true), ("X: NTLM", false), ("Proxy-Authorization: NTLM x", false),
  ])
  func `some schemes say who a connection is`(line: String, isOfConnection: Bool) throws {
    #expect(try head(line).authenticatesConnection == isOfConnection)
  }

  @Test func `the only value is none when there are two`() throws {
    #expect(try head("Host: a", "Host: a").onlyValue(.host) == nil)
    #expect(try head("X: a").onlyValue(.host) == nil)
  }
}
