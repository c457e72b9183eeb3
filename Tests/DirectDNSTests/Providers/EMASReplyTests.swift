// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct EMASReplyTests {
  private let question = AddressQuestion("www.example.com")

  private func outcome(_ path: String, _ text: String, _ family: IPAddress.Family = .ipv4, status: Int = 200)
    throws
    -> String
  {
    let credentials = ProviderCredentials(account: "100000", secret: EMASProvider.secret)
    return try EMASProvider.sample(path, credentials)
      .outcome(of: HTTPReply(text, status: status), to: .init("www.example.com", family)).summary
  }

  // MARK: Version 1

  @Test(arguments: [
    (
      #"{"host":"www.example.com","ips":["192.0.2.1"],"ttl":57,"origin_ttl":120,"client_ip":"203.0.113.9"}"#,
      "192.0.2.1 57"
    ),
    (
      #"{"host":"WWW.example.com.","ips":["192.0.2.1","192.0.2.1","192.0.2.2"],"ttl":"9"}"#,
      "192.0.2.1,192.0.2.2 9"
    ),
    (#"{"host":"www.example.com","ips":["192.0.2.1"],"ttl":0}"#, "192.0.2.1 0"),
    (#"{"host":"www.example.com","ips":["192.0.2.1"],"ttl":99999999999}"#, "192.0.2.1 604800"),
    (#"{"host":"www.example.com","ips":["192.0.2.1"],"ttl":5,"extra":"{&quot;a&quot;:1}"}"#, "192.0.2.1 5"),
    (#"{"host":"www.example.com","ips":[],"ttl":60}"#, "NODATA 5"),
    (#"{"host":"www.example.com"}"#, "response"), (#"{"host":"www.example.com","ips":null,"ttl":60}"#, "response"),
    (#"{"host":"www.example.com","error":"internal"}"#, "response"),
    (#"{"host":"www.example.com","ips":"192.0.2.1","ttl":60}"#, "transport"),
    (#"{"host":"www.example.com","ips":{},"ttl":60}"#, "transport"),
    (#"{"host":"www.example.com","ips":["192.0.2.1"]}"#, "transport"),
    (#"{"host":"www.example.com","ips":["192.0.2.1"],"ttl":-1}"#, "transport"),
    (#"{"host":"www.example.com","ips":["127.1"],"ttl":1}"#, "transport"),
    (#"{"host":"www.example.com","ips":["2001:db8::1"],"ttl":1}"#, "transport"),
    (#"{"host":"www.example.com","ips":[1],"ttl":1}"#, "transport"),
    (#"{"host":"wrong.test","ips":["192.0.2.1"],"ttl":1}"#, "transport"),
    (#"{"ips":["192.0.2.1"],"ttl":1}"#, "transport"),
    ("[]", "transport"), ("", "transport"), ("<html>", "transport"),
  ])
  func `version 1 answers one name with a list of addresses`(_ text: String, _ expected: String) throws {
    #expect(try outcome("/100000/d", text) == expected)
  }

  @Test func `version 1 has its own key for IPv6`() throws {
    let text = #"{"host":"www.example.com","ips":["192.0.2.1"],"ipsv6":["2001:db8::1"],"ttl":9}"#
    #expect(try outcome("/100000/d", text) == "192.0.2.1 9")
    #expect(try outcome("/100000/d", text, .ipv6) == "2001:db8::1 9")
  }

  @Test(arguments: [
    (#""ipsv6":[]"#, "NODATA 5"), (#""ips":[]"#, "NODATA 5"), (#""ips":[],"ipsv6":[]"#, "NODATA 5"),
    (#""ips":["192.0.2.1"]"#, "response"), (#""ipsv6":"2001:db8::1""#, "transport"), (#""ipsv6":{}"#, "transport"),
  ])
  func `version 1 says that there is no IPv6 by a list without addresses`(_ members: String, _ expected: String) throws
  {
    let entry = #"{"host":"www.example.com",\#(members),"ttl":60}"#
    #expect(try outcome("/100000/d", entry, .ipv6) == expected)
    #expect(try outcome("/100000/resolve", #"{"dns":[\#(entry)]}"#, .ipv6) == expected)
  }

  @Test func `a list holds the name somewhere, with the type beside it`() throws {
    let entry = #"{"host":"www.example.com","type":28,"ips":["2001:db8::1"],"ttl":9}"#
    let text = #"{"dns":[{"host":"other.test","ips":["203.0.113.66"],"ttl":1},\#(entry)]}"#
    #expect(try outcome("/100000/resolve", text, .ipv6) == "2001:db8::1 9")
    #expect(try outcome("/100000/resolve", #"{"dns":[]}"#) == "response")
    #expect(try outcome("/100000/resolve", #"{"dns":[{"host":"other.test","ips":[],"ttl":1}]}"#) == "transport")
    #expect(try outcome("/100000/resolve", #"{"dns":{}}"#) == "transport")
    #expect(
      try outcome("/100000/resolve", #"{"dns":[{"host":"www.example.com","ips":["192.0.2.1"],"ttl":9}]}"#)
        == "192.0.2.1 9")
  }

  @Test(arguments: [
    ("InvalidHost", 403, "response"), ("UnsignedInterfaceDisabled", 403, "response"),
    ("InvalidAccount", 403, "response"),
    ("AccountNotExists", 403, "response"), ("SignatureExpired", 403, "response"),
    ("InvalidSignature", 403, "response"),
    ("InvalidDuration", 403, "response"), ("ServiceLevelDeny", 403, "transport"),
    ("MissingArgument", 400, "response"),
    ("MethodNotAllowed", 405, "response"), ("TooManyHosts", 400, "response"),
    ("SomethingNew", 403, "response"),
    ("InternalError", 500, "transport"), ("success", 403, "transport"), ("Throttled", 429, "limited"),
  ])
  func `a code says whether another node may help`(_ code: String, _ status: Int, _ expected: String) throws {
    for path in ["/100000/d", "/100000/sign_d", "/100000/resolve"] {
      #expect(try outcome(path, #"{"code":"\#(code)"}"#, status: status) == expected)
    }
  }

  @Test(arguments: [
    ("UnsignedInterfaceDisabled", "must sign"), ("AccountNotExists", "account id"),
    ("SignatureExpired", "clock"),
    ("InvalidSignature", "secret"), ("ServiceLevelDeny", "tier"), ("InvalidHost", "resolves"),
  ])
  func `a code comes with what to do about it`(_ code: String, _ advice: String) throws {
    let reply = HTTPReply(#"{"code":"\#(code)"}"#, status: 403)
    guard case .failure(let failure) = try EMASProvider.sample("/1/d").outcome(of: reply, to: question) else {
      Issue.record("an answer")
      return
    }
    #expect(failure.reason.contains("\"\(code)\"") && failure.reason.contains(advice))
  }

  // MARK: Version 2

  /// A reply that holds one family of the name.
  private func second(_ family: String, name: String = "www.example.com", code: String = "success") -> String {
    #"{"code":"\#(code)","mode":0,"data":{"cip":"203.0.113.9","answers":[{"dn":"x.test"},{"dn":"\#(name)",\#(family)}]}}"#
  }

  @Test(arguments: [
    (#""v4":{"ips":["192.0.2.1"],"ttl":60,"extra":"x"}"#, "192.0.2.1 60"),
    (#""v4":{"ips":["192.0.2.1"],"ttl":0}"#, "192.0.2.1 0"),
    (#""v4":{"ips":[],"ttl":60,"no_ip_code":"RRNotExist"}"#, "NODATA 5"),
    (#""v4":{"ips":[],"no_ip_code":"DomainNotExist"}"#, "NXDOMAIN 5"), (#""v4":{}"#, "response"),
    (#""v4":{"no_ip_code":"DomainNotExist"}"#, "NXDOMAIN 5"), (#""v4":{"ips":[]}"#, "NODATA 5"),
    (#""v6":{"ips":["2001:db8::1"],"ttl":60}"#, "response"),
    (#""v4":{"ips":"192.0.2.1","ttl":60}"#, "transport"), (#""v4":{"ips":{}}"#, "transport"),
    (#""v4":{"ips":["2001:db8::1"],"ttl":60}"#, "transport"),
    (#""v4":{"ips":["192.0.2.1"]}"#, "transport"), (#""v4":null"#, "response"),
  ])
  func `version 2 answers by family`(_ family: String, _ expected: String) throws {
    #expect(try outcome("/v2/d", second(family)) == expected)
  }

  @Test func `version 2 has IPv6 under its own key`() throws {
    let text = second(#""v4":{"ips":["192.0.2.1"],"ttl":60},"v6":{"ips":["2001:db8::1"],"ttl":30}"#)
    #expect(try outcome("/v2/d", text, .ipv6) == "2001:db8::1 30")
  }

  @Test(arguments: [
    ("InvalidSignature", "response"), ("AccountNotExists", "response"), ("ServiceLevelDeny", "transport"),
    ("", "response"),
  ])
  func `a code other than success is an error on HTTP 200 too`(_ code: String, _ expected: String) throws {
    #expect(try outcome("/v2/d", second(#""v4":{"ips":["192.0.2.1"],"ttl":60}"#, code: code)) == expected)
  }

  @Test(arguments: [
    #"{"code":"success"}"#, #"{"code":"success","data":"AAAA"}"#,
    #"{"code":"success","data":{"answers":[{"dn":"x.test","v4":{"ips":[],"ttl":1}}]}}"#,
    #"{"data":{"answers":[{"dn":"www.example.com","v4":{"ips":["192.0.2.1"],"ttl":1}}]}}"#, "{}", "1",
    #"{"code":7}"#,
  ])
  func `a reply without code, answers or the name is a failure of the endpoint`(_ text: String) throws {
    #expect(try outcome("/v2/d", text) == "transport")
  }

  @Test func `a list without any name is a reply of a server that works, and no answer`() throws {
    #expect(try outcome("/v2/d", #"{"code":"success","data":{"answers":[]}}"#) == "response")
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `no reply can crash the reader`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let forms = [
      (try EMASProvider.sample("/1/d"), #"{"host":"www.example.com","ips":["192.0.2.1"],"ttl":57}"#),
      (try EMASProvider.sample("/v2/d?id=1"), second(#""v4":{"ips":["192.0.2.1"],"ttl":60}"#)),
    ]
    for (provider, text) in forms {
      var taken = 0
      for _ in 0..<500 {
        var bytes = Array(text.utf8)
        bytes.mutate(using: &random)
        guard case .success(let answer) = provider.outcome(of: HTTPReply(bytes, nil), to: question) else {
          continue
        }
        if !answer.addresses.isEmpty { taken += 1 }
        #expect(answer.addresses.allSatisfy { $0.family == .ipv4 })
      }
      #expect(taken > 1, "the mutations must not all be refused at the door")
    }
  }
}
