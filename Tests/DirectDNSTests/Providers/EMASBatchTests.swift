// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Several names in one query.
struct EMASBatchTests {
  private static let questions = ["a.example", "b.example", "c.example"].flatMap { name in
    IPAddress.Family.allCases.map { AddressQuestion(Sample.name(name), $0) }
  }

  private func batchURL(_ path: String, _ credentials: ProviderCredentials = .init(), families: [IPAddress.Family])
    throws -> String
  {
    let questions = Self.questions.filter { families.contains($0.family) }
    return try EMASProvider.sample(path, credentials).request(for: questions, at: 1_700_000_000).url
  }

  @Test func `version 1 has a path of its own for several names, under the same account and query`() throws {
    for path in ["/100000/d", "/100000/resolve"] {
      #expect(
        try batchURL(path, families: [.ipv4, .ipv6])
          == "https://192.0.2.1/100000/resolve?host=a.example,b.example,c.example&query=4,6")
    }
    #expect(
      try batchURL("/7/d?sid=x", families: [.ipv6])
        == "https://192.0.2.1/7/resolve?sid=x&host=a.example,b.example,c.example&query=6")
  }

  @Test func `the signature of version 1 goes over the names as they are sent`() throws {
    let signature = Signing.emas1(
      host: "a.example,b.example,c.example", secret: EMASProvider.secret, expiry: 1_700_000_600)
    for path in ["/1/sign_d", "/1/sign_resolve"] {
      let url = try batchURL(path, ProviderCredentials(secret: EMASProvider.secret), families: [.ipv4])
      #expect(
        url == "https://192.0.2.1/1/sign_resolve?host=a.example,b.example,c.example&query=4&t=1700000600&s=\(signature)"
      )
    }
  }

  @Test func `version 2 takes several names where it takes one`() throws {
    let url = try batchURL("/v2/d?id=7", ProviderCredentials(secret: EMASProvider.secret), families: [.ipv4, .ipv6])
    #expect(
      url.hasPrefix("https://192.0.2.1/v2/d?dn=a.example,b.example,c.example&id=7&m=0&q=4,6&v=1.0&exp=1700000600&"))
    let items = [
      ("dn", "a.example,b.example,c.example"), ("id", "7"), ("m", "0"), ("q", "4,6"), ("v", "1.0"),
      ("exp", "1700000600"),
    ]
    #expect(url.hasSuffix("&s=" + (try #require(Signing.emas2(items: items, secret: EMASProvider.secret)))))
  }

  private func answers(_ path: String, _ text: String) throws -> [String] {
    let provider = try EMASProvider.sample(path, ProviderCredentials(account: "1", secret: EMASProvider.secret))
    let answers = try provider.answers(from: HTTPReply(text), to: Self.questions)
    return Self.questions.map { question in
      "\(question) " + (answers[question].map(\.summary) ?? "missing")
    }
  }

  @Test func `a reply of version 1 is split into answers by name and type`() throws {
    let text = """
      {"dns":[{"host":"b.example","type":28,"ips":["2001:db8::2"],"ttl":20},
      {"host":"A.example.","type":1,"ips":["192.0.2.1"],"ttl":10},{"host":"b.example","type":1,"ips":[],"ttl":60}]}
      """
    #expect(
      try answers("/1/d", text)
        == [
          "a.example A 192.0.2.1 10", "a.example AAAA response", "b.example A NODATA 5",
          "b.example AAAA 2001:db8::2 20",
          "c.example A transport", "c.example AAAA transport",
        ].sortedLike(Self.questions))
  }

  @Test func `an entry of version 1 may have both families`() throws {
    let text = #"{"dns":[{"host":"a.example","ips":["192.0.2.1"],"ipsv6":["2001:db8::1"],"ttl":9}]}"#
    #expect(
      try answers("/1/d", text).prefix(2).sorted() == ["a.example A 192.0.2.1 9", "a.example AAAA 2001:db8::1 9"])
  }

  @Test func `a reply of version 2 is split by name and family`() throws {
    let text = """
      {"code":"success","data":{"answers":[{"dn":"b.example","v4":{"ips":["192.0.2.2"],"ttl":20}},
      {"dn":"a.example","v4":{"ips":["192.0.2.1"],"ttl":10},"v6":{"ips":[],"no_ip_code":"DomainNotExist"}}]}}
      """
    #expect(
      try answers("/v2/d", text)
        == [
          "a.example A 192.0.2.1 10", "a.example AAAA NXDOMAIN 5", "b.example A 192.0.2.2 20",
          "b.example AAAA response",
          "c.example A transport", "c.example AAAA transport",
        ].sortedLike(Self.questions))
  }

  @Test(arguments: [
    (#"{"code":"TooManyHosts"}"#, 400), (#"{"code":"InvalidHost"}"#, 403), ("", 404), ("[]", 200), ("{}", 200),
    (#"{"host":"a.example","ips":[]}"#, 200),
  ])
  func `a reply to none of them is a failure of all`(_ text: String, _ status: Int) throws {
    let provider = try EMASProvider.sample("/1/d")
    #expect(throws: ProviderFailure.self) {
      try provider.answers(from: HTTPReply(text, status: status), to: Self.questions)
    }
  }
}

extension [String] {
  /// In the order of the questions, whatever that of the families is.
  fileprivate func sortedLike(_ questions: [AddressQuestion]) -> [String] {
    questions.compactMap { question in first { $0.hasPrefix("\(question) ") } }
  }
}
