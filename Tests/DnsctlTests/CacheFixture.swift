// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS
@testable import DnsctlCommands

/// A store with an answer of every freshness and kind, as it stands at the fixture's wall clock.
struct CacheFixture {
  let store = MemoryAnswerStore()
  var fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.20", "2001:db8::20"])])

  static let now = WallInstant(milliseconds: 1_700_000_000_000)

  init() throws {
    try add("www.example.com", "192.0.2.1", "192.0.2.2", age: 0, provider: "alidns")
    try add("www.example.com", "2001:db8::1", age: 80, provider: "google", alias: "web.example.net")
    try add("grace.example.com", "192.0.2.3", age: 110, provider: "google")
    try add("stale.example.org", "192.0.2.4", age: 7300, provider: "alidns")
    try add("old.example.org", "192.0.2.5", age: 90_000, provider: "alidns")
    try add("xn--bcher-kva.example.net", age: 10, provider: "google")
  }

  func add(
    _ name: String, _ addresses: String..., age: Int, provider: String, alias: String? = nil
  ) throws {
    let list = addresses.compactMap { IPAddress($0) }
    let asked = Self.now - .seconds(age)
    store.write([
      StoredAnswer(
        AddressQuestion(try HostName(name), list.first?.family ?? .ipv4),
        list.isEmpty ? .negative(.nameNotFound) : .addresses(list), canonicalName: try alias.map { try HostName($0) },
        provider: provider, asked: asked, expires: asked + .seconds(100),
        gone: asked + .seconds(list.isEmpty ? 100 : 86_500))
    ])
  }

  /// Runs `dnsctl cache` on the store.
  func run(_ arguments: String...) async -> CommandFixture.Outcome { await run(arguments) }

  func run(_ arguments: [String]) async -> CommandFixture.Outcome {
    var fixture = fixture
    fixture.store = store
    return await fixture.run(["cache"] + arguments + ["--store", "redis://cache.example"])
  }

  func isStored(_ name: String, _ family: IPAddress.Family = .ipv4) throws -> Bool {
    !store.read([AddressQuestion(try HostName(name), family)]).isEmpty
  }
}
