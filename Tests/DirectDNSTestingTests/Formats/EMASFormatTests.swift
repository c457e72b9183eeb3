// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EMASFormatTests {
  /// The vector of the design notes: MD5("www.example.com-<secret>-1700000600").
  private static let secret = "00112233445566778899aabbccddeeff"
  private static let signed =
    "/100000/sign_d?host=www.example.com&t=1700000600&s=4302f108f16d12f0a0fd181a20a9db98"

  private func reply(
    _ path: String, account: EMASAccount? = nil, clock: ManualClock = ManualClock(), _ arguments: String...
  ) async throws -> Curl.Reply {
    try await withProvider(.init(emasAccount: account, clock: clock)) { server async throws in
      try await Curl.run("-X", arguments.first ?? "GET", server.url(path))
    }
  }

  private func code(_ path: String, clock: ManualClock = ManualClock()) async throws -> String {
    let account = EMASAccount(id: "100000", secret: Self.secret)
    let reply = try await reply(path, account: account, clock: clock)
    guard reply.status != 200 else { return "success" }
    #expect(reply.status == 403 || reply.status == 400)
    return reply.json["code"] as? String ?? reply.text
  }

  @Test(arguments: [
    (
      "/1/d?host=www.example.com",
      #"{"host":"www.example.com","ips":["192.0.2.1","192.0.2.2"],"ttl":60,"origin_ttl":60,"client_ip":"127.0.0.1"}"#
    ),
    (
      "/1/d?host=shop.example.com&query=4,6&ip=198.51.100.7",
      #"{"host":"shop.example.com","ips":["192.0.2.1","192.0.2.2"],"ipsv6":["2001:db8::1"],"ttl":20,"origin_ttl":20,"client_ip":"198.51.100.7"}"#
    ),
    (
      "/1/d?host=gone.example.com&query=6",
      #"{"host":"gone.example.com","ipsv6":[],"ttl":60,"origin_ttl":60,"client_ip":"127.0.0.1"}"#
    ),
    (
      "/1/resolve?host=six.example.com,gone.example.com&query=6",
      #"{"dns":[{"host":"six.example.com","type":28,"ips":["2001:db8::6"],"ttl":90,"origin_ttl":90,"client_ip":"127.0.0.1"},{"host":"gone.example.com","type":28,"ips":[],"ttl":60,"origin_ttl":60,"client_ip":"127.0.0.1"}]}"#
    ),
  ])
  func `the reply's shape`(path: String, expected: String) async throws {
    #expect(try await reply(path).text == expected)
  }

  @Test func `the signature's vector is accepted`() async throws {
    #expect(try await code(Self.signed) == "success")
  }

  @Test(arguments: [
    (
      "/100000/sign_d?host=www.example.org&t=1700000600&s=4302f108f16d12f0a0fd181a20a9db98",
      "InvalidSignature"
    ),
    (
      "/100000/sign_d?host=www.example.com&t=1700000601&s=4302f108f16d12f0a0fd181a20a9db98",
      "InvalidSignature"
    ),
    ("/100000/sign_d?host=www.example.com&t=1699999999&s=00", "SignatureExpired"),
    ("/100000/sign_d?host=www.example.com&t=1800000000&s=00", "InvalidDuration"),
    ("/100000/sign_d?host=www.example.com", "MissingArgument"),
    ("/100000/sign_d?t=1&s=0", "MissingArgument"),
    ("/100001/sign_d?host=www.example.com&t=1700000600&s=00", "AccountNotExists"),
    ("/account/sign_d?host=www.example.com&t=1700000600&s=00", "InvalidAccount"),
    ("/100000/d?host=www.example.com", "UnsignedInterfaceDisabled"),
  ])
  func `a request that the account does not cover`(path: String, expected: String) async throws {
    #expect(try await code(path) == expected)
  }

  @Test func `a signature that was good expires`() async throws {
    let clock = ManualClock()
    clock.advance(by: .seconds(601))
    #expect(try await code(Self.signed, clock: clock) == "SignatureExpired")
  }

  @Test(arguments: [
    ("/1/d?host=b%C3%BCcher.example", "InvalidHost", 403), ("/1/d?host=", "InvalidHost", 403),
    ("/1/d?host=a.test,b.test", "InvalidHost", 403),
    ("/1/resolve?host=a.a,b.b,c.c,d.d,e.e,f.f", "TooManyHosts", 400),
  ])
  func `a name list that cannot be answered`(path: String, code: String, status: Int) async throws {
    let reply = try await reply(path)
    #expect(reply.json["code"] as? String == code && reply.status == status)
  }

  @Test func `only GET is allowed`() async throws {
    let reply = try await reply("/1/d?host=www.example.com", "POST")
    #expect(reply.status == 405 && reply.json["code"] as? String == "MethodNotAllowed")
  }

  @Test(arguments: [
    "ServiceLevelDeny", "InvalidAccount", "AccountNotExists", "SignatureExpired", "InvalidDuration",
  ])
  func `any error code can be had on demand`(code: String) async throws {
    try await withProvider { server async throws in
      server.misbehave(.vendorError(code))
      let reply = try await Curl.run(server.url("/1/d?host=www.example.com"))
      #expect(reply.status == 403 && reply.text == #"{"code":"\#(code)"}"#)
      #expect(server.requests.first?.name == "www.example.com")
    }
  }

  @Test func `extra is escaped for HTML`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.extra(#"{"a":"<&>"}"#))
      let reply = try await Curl.run(server.url("/1/d?host=www.example.com"))
      #expect(reply.json["extra"] as? String == "{&quot;a&quot;:&quot;&lt;&amp;&gt;&quot;}")
    }
  }
}
