// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct EMASProviderTests {
  private static let secret = Secret("00112233445566778899aabbccddeeff")
  private let question = AddressQuestion("www.example.com")

  private func provider(_ path: String, _ credentials: ProviderCredentials = .init(), subnet: String? = nil)
    throws
    -> EMASProvider
  {
    try EMASProvider(
      name: "sample", url: WebURL("https://192.0.2.1" + path), credentials: credentials,
      clientSubnet: try subnet.map { try #require(IPNetwork($0)) })
  }

  private func url(
    _ path: String, _ credentials: ProviderCredentials = .init(), _ family: IPAddress.Family = .ipv4,
    subnet: String? = nil
  ) throws -> String {
    try provider(path, credentials, subnet: subnet).request(
      for: .init("www.example.com", family), at: 1_700_000_000
    ).url
  }

  private func outcome(_ path: String, _ text: String, _ family: IPAddress.Family = .ipv4, status: Int = 200)
    throws
    -> String
  {
    let credentials = ProviderCredentials(account: "100000", secret: Self.secret)
    return try provider(path, credentials)
      .outcome(of: HTTPReply(text, status: status), to: .init("www.example.com", family)).summary
  }

  // MARK: Requests

  @Test func `version 1 asks under its account, and signs where the path says so`() throws {
    let signed = ProviderCredentials(secret: Self.secret)
    #expect(try url("/100000/d") == "https://192.0.2.1/100000/d?host=www.example.com&query=4")
    #expect(
      try url("/100000/resolve", .init(), .ipv6)
        == "https://192.0.2.1/100000/resolve?host=www.example.com&query=6")
    #expect(
      try url("/100000/sign_d", signed)
        == "https://192.0.2.1/100000/sign_d?host=www.example.com&query=4&t=1700000600&s=4302f108f16d12f0a0fd181a20a9db98"
    )
    #expect(try url("/1/sign_resolve", signed).hasSuffix("&t=1700000600&s=4302f108f16d12f0a0fd181a20a9db98"))
    #expect(
      try url("/1/d?sid=x", .init(), subnet: "198.51.100.0/24").hasSuffix(
        "?sid=x&host=www.example.com&query=4&ip=198.51.100.0"))
  }

  @Test func `an unsigned path is not signed, whatever secret there is`() throws {
    #expect(try !url("/100000/d", ProviderCredentials(secret: Self.secret)).contains("s="))
  }

  @Test func `version 2 names its account, and signs where there is a secret`() throws {
    #expect(try url("/v2/d?id=100000") == "https://192.0.2.1/v2/d?dn=www.example.com&id=100000&m=0&q=4&v=1.0")
    #expect(
      try url("/v2/d", ProviderCredentials(account: "7"))
        == "https://192.0.2.1/v2/d?dn=www.example.com&id=7&m=0&q=4&v=1.0")
    let signed = try url("/v2/d", ProviderCredentials(account: "100000", secret: Self.secret), .ipv6)
    #expect(signed.contains("&exp=1700000600&s="))
    let items = [
      ("q", "6"), ("dn", "www.example.com"), ("exp", "1700000600"), ("id", "100000"), ("m", "0"),
      ("v", "1.0"),
    ]
    #expect(signed.hasSuffix(try #require(Signing.emas2(items: items, secret: Self.secret))))
    #expect(!signed.contains(Self.secret.text))
  }

  @Test func `version 2 keeps the other items of its URL, signed where the vendor signs them`() throws {
    #expect(
      try url("/v2/d?id=1&sid=x&sdns-city=a")
        == "https://192.0.2.1/v2/d?sid=x&sdns-city=a&dn=www.example.com&id=1&m=0&q=4&v=1.0")
    let signed = try url("/v2/d?id=1&sid=x&sdns-city=a%20b&tags=t", ProviderCredentials(secret: Self.secret))
    let items = [
      ("dn", "www.example.com"), ("id", "1"), ("m", "0"), ("q", "4"), ("v", "1.0"), ("exp", "1700000600"),
      ("sdns-city", "a b"), ("tags", "t"),
    ]
    #expect(signed.hasSuffix("&s=" + (try #require(Signing.emas2(items: items, secret: Self.secret)))))
  }

  @Test(
    arguments: [
      ("/", nil, "not a path of EMAS"), ("/d", nil, "not a path of EMAS"), ("/1/x", nil, "not a path of EMAS"),
      ("/1/d/x", nil, "not a path of EMAS"), ("/1/sign_d", nil, "needs a secret"),
      ("/1/sign_resolve", nil, "needs a secret"),
      ("/v2/d", nil, "needs an account"), ("/v2/d?id=1", "xyz", "hexadecimal"),
      ("/v2/d?id=1", "abc", "hexadecimal"),
      ("/v2/d?id=1&m=1", nil, "encrypted"), ("/v2/d?id=1&m=2", nil, "encrypted"),
      ("/v2/d?enc=00&id=1", nil, "encrypted"),
    ] as [(String, String?, String)])
  func `what cannot be asked is refused with the reason`(_ path: String, _ secret: String?, _ reason: String) {
    let error = #expect(throws: DirectDNSError.self) {
      try provider(path, ProviderCredentials(secret: secret.map { Secret($0) }))
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: ["/KEY", "/KEY/d/x", "/KEY/x", "/1/KEY"])
  func `a key that was written as a path is not repeated`(_ path: String) {
    let error = #expect(throws: DirectDNSError.self) { try provider(path, ProviderCredentials()) }
    #expect(error?.message.contains("KEY") == false, "\(error?.message ?? "")")
  }

  // MARK: Replies of version 1

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
    #expect(try outcome("/100000/resolve", #"{"dns":[]}"#) == "transport")
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
    guard case .failure(let failure) = try provider("/1/d").outcome(of: reply, to: question) else {
      Issue.record("an answer")
      return
    }
    #expect(failure.reason.contains("\"\(code)\"") && failure.reason.contains(advice))
  }

  // MARK: Replies of version 2

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
    #"{"code":"success","data":{"answers":[]}}"#,
    #"{"data":{"answers":[{"dn":"www.example.com","v4":{"ips":["192.0.2.1"],"ttl":1}}]}}"#, "{}", "1",
    #"{"code":7}"#,
  ])
  func `a reply without code, answers or the name is a failure of the endpoint`(_ text: String) throws {
    #expect(try outcome("/v2/d", text) == "transport")
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `no reply can crash the reader`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let forms = [
      (try provider("/1/d"), #"{"host":"www.example.com","ips":["192.0.2.1"],"ttl":57}"#),
      (try provider("/v2/d?id=1"), second(#""v4":{"ips":["192.0.2.1"],"ttl":60}"#)),
    ]
    for (provider, text) in forms {
      for _ in 0..<500 {
        var bytes = Array(text.utf8)
        bytes.mutate(using: &random)
        guard case .success(let answer) = provider.outcome(of: HTTPReply(bytes, nil), to: question) else {
          continue
        }
        #expect(answer.addresses.allSatisfy { $0.family == .ipv4 })
      }
    }
  }

  // MARK: Several names at once

  private static let questions = ["a.example", "b.example", "c.example"].flatMap { name in
    IPAddress.Family.allCases.map { AddressQuestion(Sample.name(name), $0) }
  }

  private func batchURL(_ path: String, _ credentials: ProviderCredentials = .init(), families: [IPAddress.Family])
    throws -> String
  {
    let questions = Self.questions.filter { families.contains($0.family) }
    return try provider(path, credentials).request(for: questions, at: 1_700_000_000).url
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
    let signature = Signing.emas1(host: "a.example,b.example,c.example", secret: Self.secret, expiry: 1_700_000_600)
    for path in ["/1/sign_d", "/1/sign_resolve"] {
      let url = try batchURL(path, ProviderCredentials(secret: Self.secret), families: [.ipv4])
      #expect(
        url == "https://192.0.2.1/1/sign_resolve?host=a.example,b.example,c.example&query=4&t=1700000600&s=\(signature)"
      )
    }
  }

  @Test func `version 2 takes several names where it takes one`() throws {
    let url = try batchURL("/v2/d?id=7", ProviderCredentials(secret: Self.secret), families: [.ipv4, .ipv6])
    #expect(
      url.hasPrefix("https://192.0.2.1/v2/d?dn=a.example,b.example,c.example&id=7&m=0&q=4,6&v=1.0&exp=1700000600&"))
    let items = [
      ("dn", "a.example,b.example,c.example"), ("id", "7"), ("m", "0"), ("q", "4,6"), ("v", "1.0"),
      ("exp", "1700000600"),
    ]
    #expect(url.hasSuffix("&s=" + (try #require(Signing.emas2(items: items, secret: Self.secret)))))
  }

  private func answers(_ path: String, _ text: String) throws -> [String] {
    let provider = try provider(path, ProviderCredentials(account: "1", secret: Self.secret))
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
    let provider = try provider("/1/d")
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
