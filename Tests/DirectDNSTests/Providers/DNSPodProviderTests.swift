// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct DNSPodProviderTests {
  private func provider(
    _ url: String = "http://192.0.2.98/d", token: Secret? = nil, subnet: String? = nil
  ) throws -> DNSPodProvider {
    try DNSPodProvider(
      name: "sample", url: WebURL(url), token: token,
      clientSubnet: try subnet.map { try #require(IPNetwork($0)) })
  }

  private func outcome(_ text: String, _ family: IPAddress.Family = .ipv4, status: Int = 200) throws -> String {
    try provider().outcome(
      of: HTTPReply(text, "text/html", status: status), to: .init("www.shop.test", family)
    ).summary
  }

  @Test func `a question stands in the query`() throws {
    let four = AddressQuestion("www.shop.test")
    #expect(try provider().request(for: four, at: 0).url == "http://192.0.2.98/d?dn=www.shop.test&ttl=1")
    #expect(
      try provider().request(for: .init("www.shop.test", .ipv6), at: 0).url
        == "http://192.0.2.98/d?dn=www.shop.test&ttl=1&type=aaaa")
    #expect(
      try provider("https://192.0.2.99/d?x=1", token: "t/k", subnet: "198.51.100.0/24").request(
        for: four, at: 0
      ).url
        == "https://192.0.2.99/d?x=1&dn=www.shop.test&ttl=1&ip=198.51.100.0&token=t%2Fk")
  }

  @Test(arguments: [
    ("192.0.2.1,120", "192.0.2.1 120"), ("192.0.2.1;192.0.2.2,120", "192.0.2.1,192.0.2.2 120"),
    ("192.0.2.1;192.0.2.1,120", "192.0.2.1 120"), ("192.0.2.1,120|203.0.113.9", "192.0.2.1 120"),
    ("www.shop.test.:192.0.2.1,120|203.0.113.9", "192.0.2.1 120"),
    ("WWW.Shop.test.:192.0.2.1,120", "192.0.2.1 120"),
    ("192.0.2.1,120\n", "192.0.2.1 120"), ("\r\n192.0.2.1,120\r\n", "192.0.2.1 120"),
    ("192.0.2.1,0", "192.0.2.1 0"),
    ("192.0.2.1,4294967295", "192.0.2.1 604800"), ("", "NODATA 5"), ("0", "NODATA 5"),
    ("0|203.0.113.9", "NODATA 5"),
    ("|203.0.113.9", "NODATA 5"), ("www.shop.test.:0|203.0.113.9", "NODATA 5"),
    ("www.shop.test.:0", "NODATA 5"),
    ("www.shop.test.:", "NODATA 5"), (" \n", "NODATA 5"),
  ])
  func `addresses, TTL, client address and repeated name are told apart`(_ text: String, _ expected: String)
    throws
  {
    #expect(try outcome(text) == expected)
  }

  @Test func `IPv6 addresses hold colons, and the name is still cut off at the right one`() throws {
    #expect(try outcome("2001:db8::1;2001:db8::2,60", .ipv6) == "2001:db8::1,2001:db8::2 60")
    #expect(try outcome("www.shop.test.:2001:db8::1,60|2001:db8::9", .ipv6) == "2001:db8::1 60")
  }

  @Test(arguments: [
    "192.0.2.1", "192.0.2.1,", "192.0.2.1,x", "192.0.2.1,-1", "192.0.2.1,1,2", "192.0.2.1,60\n192.0.2.2,60",
    ";192.0.2.1,60",
    "192.0.2.1;,60", ",60", "127.1,60", "2001:db8::1,60", "192.0.2.1,60-2001:db8::1,60", "0-0",
    "wrong.test.:192.0.2.1,60",
    "poisoned.test.:203.0.113.66,60\nwww.shop.test.:192.0.2.1,60", "c9b9f4b2e55a1f6d03a7e1c2b4d58e90",
    "<!DOCTYPE html><title>Log in</title>", "404 page not found", "0,60", "ü", "192.0.2.1,99999999999",
    "192.0.2.1 ,60",
  ])
  func `anything else is a failure of the endpoint`(_ text: String) throws {
    #expect(try outcome(text) == "transport")
  }

  @Test func `a name may have so many addresses that the reply is long, and a long page is still no reply`() throws {
    let many = (0..<2000).map { "192.0.\($0 / 250).\($0 % 250)" }.joined(separator: ";") + ",60"
    let outcome = try provider().outcome(of: HTTPReply(many, nil), to: .init("www.shop.test"))
    #expect(try outcome.get().addresses.count == Answer.addressLimit)
    #expect(try self.outcome("<html>" + String(repeating: "Log in. ", count: 2000)) == "transport")
  }

  @Test(arguments: [
    (401, "transport"), (404, "transport"), (429, "limited"), (501, "transport"), (500, "transport"),
    (202, "transport"), (204, "transport"),
  ])
  func `a status other than 200 is a failure, with an empty body too`(_ status: Int, _ expected: String) throws {
    for text in ["192.0.2.1,60", ""] { #expect(try outcome(text, status: status) == expected) }
  }

  @Test func `a token is named in a refusal`() throws {
    #expect(throws: ProviderFailure.malformed("HTTP 401: refused; check the token")) {
      try provider("https://192.0.2.98/d", token: "t").answer(
        from: HTTPReply("", status: 401), to: .init("www.shop.test"))
    }
  }

  @Test(
    arguments: [
      ("http://192.0.2.98/d", "t", "https only"), ("http://192.0.2.98/d?id=1", nil, "encrypted"),
      ("https://192.0.2.98/d?x=1&alg=aes", nil, "encrypted"),
      ("https://192.0.2.98/d?alg=des&id=5", "t", "encrypted"),
    ] as [(String, String?, String)])
  func `a token in the clear and the encrypted forms are refused with the reason`(
    _ url: String, _ token: String?, _ reason: String
  ) {
    let error = #expect(throws: DirectDNSError.self) { try provider(url, token: token.map { Secret($0) }) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains(reason) == true)
    #expect(error?.message.contains("Provider sample") == true)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `no reply can crash the reader`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let provider = try provider()
    var taken = 0
    for _ in 0..<1000 {
      var bytes = Array("www.shop.test.:192.0.2.1;192.0.2.2,120|203.0.113.9".utf8)
      bytes.mutate(using: &random)
      guard
        case .success(let answer) = provider.outcome(of: HTTPReply(bytes, nil), to: .init("www.shop.test"))
      else { continue }
      if !answer.addresses.isEmpty { taken += 1 }
      #expect(answer.addresses.allSatisfy { $0.family == .ipv4 })
    }
    #expect(taken > 20, "the mutations must not all be refused at the door")
  }
}
