// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation

/// The scenery: a throw-away certificate authority, two providers on loopback, and how to reach them.
struct Stage {
  static let host = "www.example.test"
  static let address = "192.0.2.10"
  static let laterAddress = "192.0.2.20"
  static let ttl: UInt32 = 60
  static let names = [
    host, "shop.example.test", "both.example.test", "bücher.example.test", "mail.example.test", payHost, bankHost,
  ]
  /// A name whose address is this machine's, for requests.
  static let payHost = "pay.example.test"
  /// A name about which the second provider lies: it says an address of a private network.
  static let bankHost = "bank.example.test"
  static let dohName = "doh.test"
  static let jsonName = "alidns.test"

  /// The first provider: DNS messages over HTTP/2 and TLS (RFC 8484).
  let doh: FakeProvider
  /// The second one: AliDNS's JSON, over TLS too.
  let json: FakeProvider

  private let authority: TestCertificateAuthority
  private let file: CAFile

  init() async throws {
    authority = try TestCertificateAuthority()
    file = try authority.makeFile()
    doh = try await Self.start(Self.dohName, Self.address, authority)
    json = try await Self.start(Self.jsonName, Self.address, authority, bank: "10.6.6.6")
  }

  /// Starts the first provider again, on the port where it was, after the name has moved.
  func bringBack() async throws -> FakeProvider {
    try await Self.start(Self.dohName, Self.laterAddress, authority, port: doh.port)
  }

  private static func start(
    _ name: String, _ address: String, _ authority: TestCertificateAuthority, port: Int = 0,
    bank: String = "93.184.215.14"
  ) async throws -> FakeProvider {
    let records = RecordTable {
      $0.add(host, address, ttl: ttl)
      $0.alias("shop.example.test", to: host, ttl: 20)
      $0.add("both.example.test", "192.0.2.66", "2001:db8::66", ttl: 300)
      $0.add("xn--bcher-kva.example.test", "192.0.2.77", ttl: 300)
      $0.empty("mail.example.test")
      $0.add(payHost, "127.0.0.1", ttl: ttl)
      $0.add(bankHost, bank, ttl: ttl)
    }
    let identity = try authority.issue(names: [name])
    return try await .start(
      records: records, configuration: .init(vendor: .alidns, identity: identity, port: port))
  }

  /// Where `ca.pem` lies.
  var folder: URL { URL(filePath: file.path).deletingLastPathComponent() }

  // MARK: How to reach them

  private var dohURL: String { "doh+https://\(Self.dohName):\(doh.port)/dns-query" }
  private var jsonURL: String { "json+https://\(Self.jsonName):\(json.port)/resolve" }

  /// What `dnsctl` has to be told of the first provider; the system's DNS would not know these names.
  var dohOptions: [String] {
    ["--no-system", "--ca", "ca.pem", "--provider", dohURL, "--bootstrap", "\(Self.dohName)=127.0.0.1"]
  }

  /// The same of the second one.
  var jsonOptions: [String] { ["--provider", jsonURL, "--bootstrap", "\(Self.jsonName)=127.0.0.1"] }

  /// Both in `dnsctl`'s environment variables.
  var environment: KeyValuePairs<String, String> {
    [
      "DIRECTDNS_PROVIDERS": "\(dohURL),\(jsonURL)",
      "DIRECTDNS_BOOTSTRAP": "\(Self.dohName)=127.0.0.1,\(Self.jsonName)=127.0.0.1",
      "DIRECTDNS_CA": file.path,
      "DIRECTDNS_SYSTEM": "false",
    ]
  }

  /// A resolver of the first provider alone, whose time is moved by hand.
  func resolver(clock: ManualClock) throws -> DirectResolver {
    var provider = try ProviderConfiguration(dohURL)
    provider.bootstrap = [.ipv4(0x7F00_0001)]
    var configuration = ResolverConfiguration(providers: [provider])
    configuration.usesSystemDNS = false
    configuration.trust = TrustStore(privateAuthorities: [file.path])
    return try DirectResolver(configuration, clock: clock)
  }
}
