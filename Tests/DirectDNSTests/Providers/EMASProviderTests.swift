// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct EMASProviderTests {
  private func url(
    _ path: String, _ credentials: ProviderCredentials = .init(), _ family: IPAddress.Family = .ipv4,
    subnet: String? = nil
  ) throws -> String {
    try EMASProvider.sample(path, credentials, subnet: subnet).request(
      for: .init("www.example.com", family), at: 1_700_000_000
    ).url
  }

  @Test func `version 1 asks under its account, and signs where the path says so`() throws {
    let signed = ProviderCredentials(secret: EMASProvider.secret)
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
    #expect(try !url("/100000/d", ProviderCredentials(secret: EMASProvider.secret)).contains("s="))
  }

  @Test func `version 2 names its account, and signs where there is a secret`() throws {
    #expect(try url("/v2/d?id=100000") == "https://192.0.2.1/v2/d?dn=www.example.com&id=100000&m=0&q=4&v=1.0")
    #expect(
      try url("/v2/d", ProviderCredentials(account: "7"))
        == "https://192.0.2.1/v2/d?dn=www.example.com&id=7&m=0&q=4&v=1.0")
    let signed = try url("/v2/d", ProviderCredentials(account: "100000", secret: EMASProvider.secret), .ipv6)
    #expect(signed.contains("&exp=1700000600&s="))
    let items = [
      ("q", "6"), ("dn", "www.example.com"), ("exp", "1700000600"), ("id", "100000"), ("m", "0"),
      ("v", "1.0"),
    ]
    #expect(signed.hasSuffix(try #require(Signing.emas2(items: items, secret: EMASProvider.secret))))
    #expect(!signed.contains(EMASProvider.secret.text))
  }

  @Test func `version 2 keeps the other items of its URL, signed where the vendor signs them`() throws {
    #expect(
      try url("/v2/d?id=1&sid=x&sdns-city=a")
        == "https://192.0.2.1/v2/d?sid=x&sdns-city=a&dn=www.example.com&id=1&m=0&q=4&v=1.0")
    let signed = try url("/v2/d?id=1&sid=x&sdns-city=a%20b&tags=t", ProviderCredentials(secret: EMASProvider.secret))
    let items = [
      ("dn", "www.example.com"), ("id", "1"), ("m", "0"), ("q", "4"), ("v", "1.0"), ("exp", "1700000600"),
      ("sdns-city", "a b"), ("tags", "t"),
    ]
    #expect(signed.hasSuffix("&s=" + (try #require(Signing.emas2(items: items, secret: EMASProvider.secret)))))
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
      try EMASProvider.sample(path, ProviderCredentials(secret: secret.map { Secret($0) }))
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: ["/KEY", "/KEY/d/x", "/KEY/x", "/1/KEY"])
  func `a key that was written as a path is not repeated`(_ path: String) {
    let error = #expect(throws: DirectDNSError.self) { try EMASProvider.sample(path, ProviderCredentials()) }
    #expect(error?.message.contains("KEY") == false, "\(error?.message ?? "")")
  }
}
