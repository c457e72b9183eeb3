// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct EMASv2FormatTests {
  private static let key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
  private static let account = EMASAccount(
    id: "100000", secret: "00112233445566778899aabbccddeeff", aesKey: key)
  /// The vector of the design notes, with parameters that are not signed between the signed ones.
  private static let signed = """
    /v2/d?sid=abc&v=1.0&q=4,6&m=0&id=100000&exp=1700000600&dn=www.example.com&net=wifi\
    &s=85a84cc69eac02a602dea38044f81632fe3256ab5e89a2760c512c4c4368a515
    """

  private func reply(
    _ path: String, account: EMASAccount? = nil, clock: ManualClock = ManualClock()
  ) async throws -> Curl.Reply {
    try await withProvider(.init(emasAccount: account, clock: clock)) { server async throws in
      try await Curl.run(server.url(path))
    }
  }

  @Test(arguments: [
    (
      "dn=shop.example.com&q=4,6",
      #"{"dn":"shop.example.com","v4":{"ips":["192.0.2.1","192.0.2.2"],"ttl":20},"v6":{"ips":["2001:db8::1"],"ttl":20}}"#
    ),
    (
      "dn=gone.example.com",
      #"{"dn":"gone.example.com","v4":{"ips":[],"ttl":60,"no_ip_code":"DomainNotExist"}}"#
    ),
    (
      "dn=empty.example.com&q=6",
      #"{"dn":"empty.example.com","v6":{"ips":[],"ttl":30,"no_ip_code":"RRNotExist"}}"#
    ),
    (
      "dn=six.example.com,gone.example.com&q=6&cip=198.51.100.7",
      #"{"dn":"six.example.com","v6":{"ips":["2001:db8::6"],"ttl":90}},{"dn":"gone.example.com","v6":{"ips":[],"ttl":60,"no_ip_code":"DomainNotExist"}}"#
    ),
  ])
  func `the reply's shape`(query: String, answers: String) async throws {
    let client = query.contains("cip") ? "198.51.100.7" : "127.0.0.1"
    #expect(
      try await reply("/v2/d?id=1&m=0&v=1.0&\(query)").text
        == #"{"code":"success","mode":0,"data":{"cip":"\#(client)","answers":[\#(answers)]}}"#)
  }

  @Test func `the signature's vector is accepted`() async throws {
    #expect(try await reply(Self.signed, account: Self.account).json["code"] as? String == "success")
  }

  @Test(arguments: ["id=100000", "q=4,6", "exp=1700000600", "dn=www.example.com", "s=85a84"])
  func `a request with one signed thing changed is an error under 200`(part: String) async throws {
    let changed = Self.signed.replacing("&\(part)", with: "&\(part)1")
    #expect(changed != Self.signed)
    let reply = try await reply(changed, account: Self.account)
    #expect(reply.status == 200)
    let code = try #require(reply.json["code"] as? String)
    #expect(code == (part.hasPrefix("id") ? "AccountNotExists" : "InvalidSignature"))
  }

  @Test func `a signature expires, and an unsigned request is refused`() async throws {
    let clock = ManualClock(secondsSince1970: 1_700_000_601)
    let expired = try await reply(Self.signed, account: Self.account, clock: clock)
    #expect(expired.json["code"] as? String == "SignatureExpired")
    let unsigned = try await reply("/v2/d?id=100000&m=0&dn=www.example.com", account: Self.account)
    #expect(unsigned.json["code"] as? String == "UnsignedInterfaceDisabled")
  }

  @Test(arguments: [
    ("dn=a.a,b.b,c.c,d.d,e.e,f.f", "TooManyHosts"), ("dn=b%C3%BCcher.example", "InvalidHost"),
    ("q=4", "MissingArgument"), ("dn=www.example.com&q=5", "InvalidArgument"),
  ])
  func `a request that cannot be answered is an error under 200`(query: String, code: String) async throws {
    let reply = try await reply("/v2/d?id=1&m=0&\(query)")
    #expect(reply.status == 200 && reply.json["code"] as? String == code)
  }

  @Test func `an encrypted request gets an encrypted answer`() async throws {
    var account = Self.account
    account.requiresSignature = false
    try await withProvider(.init(emasAccount: account)) { server async throws in
      let enc = try OpenSSL.encrypt(#"{"dn":"www.example.com","q":"6"}"#, hexKey: Self.key)
      let reply = try await Curl.run(server.url("/v2/d?id=100000&m=1&v=1.0&enc=\(enc)"))
      #expect(reply.json["mode"] as? Int == 1)
      let data = try #require(reply.json["data"] as? String)
      #expect(try OpenSSL.decrypt(base64: data, hexKey: Self.key).contains("2001:db8::1"))
      #expect(server.requests.first?.questions.map(\.description) == ["www.example.com. AAAA"])
      let broken = try await Curl.run(server.url("/v2/d?id=100000&m=1&v=1.0&enc=00"))
      #expect(broken.json["code"] as? String == "DecryptionFailed")
    }
  }

  @Test func `mode 2 is AES-GCM`() async throws {
    var account = Self.account
    account.requiresSignature = false
    try await withProvider(.init(emasAccount: account)) { server async throws in
      // {"dn":"six.example.com","q":"6"} by another implementation (Python's cryptography), the IV 01 02 … 0c.
      let enc =
        "0102030405060708090a0b0c369da7af4649ff0f07ed8c0d7c730d698ffe2e6fc4b37e161d5a51df91ba1fa351"
        + "938857b91c4d941d42afaa8cf23bec"
      let reply = try await Curl.run(server.url("/v2/d?id=100000&m=2&v=1.0&enc=\(enc)"))
      #expect(reply.json["mode"] as? Int == 2)
      let data = try #require((reply.json["data"] as? String).flatMap { Data(base64Encoded: $0) })
      let key = Self.key.chunked(2).compactMap { UInt8($0, radix: 16) }
      let plain = try ProviderCipher.open(Array(data), mode: .gcm, key: key)
      #expect(throws: ProviderCipher.Failure.self) {
        try ProviderCipher.open(Array(data.dropLast()) + [data[data.count - 1] ^ 1], mode: .gcm, key: key)
      }
      #expect(String(decoding: plain, as: UTF8.self).contains(#""v6":{"ips":["2001:db8::6"],"ttl":90}"#))
    }
  }

  @Test func `codes and extras can be had on demand`() async throws {
    try await withProvider { server async throws in
      let url = server.url("/v2/d?id=1&m=0&dn=www.example.com")
      server.misbehave(.vendorError("ServiceLevelDeny"), times: 1)
      server.misbehave(.noAddressCode("RRNotExist"), times: 1)
      server.misbehave(.extra("\"x\""), times: 1)
      let denied = try await Curl.run(url)
      #expect(denied.status == 200 && denied.text == #"{"code":"ServiceLevelDeny"}"#)
      #expect(try await Curl.run(url).text.contains(#""ips":[],"ttl":60,"no_ip_code":"RRNotExist""#))
      #expect(try await Curl.run(url).text.contains(#""extra":"&quot;x&quot;""#))
    }
  }
}
