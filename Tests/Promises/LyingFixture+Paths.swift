// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import DirectDNSTesting

/// The paths on which an address comes to a request, each with lures of every forbidden address, and with the allowed one: where
/// nobody can be reached nothing is refused.
extension LyingFixture {
  var paths: [(name: String, run: () async throws -> LureTally)] {
    [
      ("answer", answers), ("beside-a-public-one", mixedAnswers), ("alias", aliases), ("literal", literalHosts),
      ("redirect", redirects), ("redirect-to-a-literal", literalRedirects), ("rebinding", rebinding),
      ("stale", staleAnswers), ("store", stored), ("pin", pinned), ("late-family", lateFamilies),
      ("pooled-connection", pooledConnections), ("reload", reloads),
    ]
  }

  private static let targets = forbidden + [allowed]

  /// A lure for each address, under a name of its own.
  private func each(
    _ label: String, _ client: DirectClient, _ path: String = "/",
    _ prepare: (_ host: String, _ address: String) async throws -> Void
  ) async throws -> LureTally {
    var tally = LureTally()
    for (number, address) in Self.targets.enumerated() {
      let host = "\(label)-\(number).lure.example.net"
      try await prepare(host, address)
      await lure(client, url(host, path), &tally)
    }
    await client.shutdown(within: .zero)
    return tally
  }

  private func answers() async throws -> LureTally {
    try await each("answer", try client()) { try say($0, $1) }
  }

  private func mixedAnswers() async throws -> LureTally {
    try await each("mixed", try client()) { try say($0, $1, Self.allowed, $1) }
  }

  private func aliases() async throws -> LureTally {
    try await each("alias", try client()) {
      try say("target-of-\($0)", $1)
      server.records.alias($0, to: "target-of-\($0)", ttl: 10)
    }
  }

  private func literalHosts() async throws -> LureTally {
    var tally = LureTally()
    let client = try client()
    for host in Self.literals + [Self.allowed] { await lure(client, url(host), &tally) }
    await client.shutdown(within: .zero)
    return tally
  }

  private func redirects() async throws -> LureTally {
    var tally = LureTally()
    let client = try client()
    try say("shop.example.net", Self.allowed)
    for (number, address) in Self.targets.enumerated() {
      let host = "redirect-\(number).lure.example.net"
      try say(host, address)
      await lure(client, url("shop.example.net", "/to?\(url(host))"), &tally)
    }
    await client.shutdown(within: .zero)
    return tally
  }

  private func literalRedirects() async throws -> LureTally {
    var tally = LureTally()
    let client = try client()
    try say("shop.example.net", Self.allowed)
    for host in Self.literals + [Self.allowed] where host.allSatisfy(\.isASCII) {
      await lure(client, url("shop.example.net", "/to?\(url(host))"), &tally)
      await lure(client, url("shop.example.net", "/to?//\(host):\(origin.port)/"), &tally)
    }
    await client.shutdown(within: .zero)
    return tally
  }

  /// Public at first; then the answer expires, and the next one leads inside.
  private func rebinding() async throws -> LureTally {
    let clock = ManualClock()
    let client = try client(clock)
    var tally = LureTally()
    for (number, address) in Self.targets.enumerated() {
      let host = "rebinding-\(number).lure.example.net"
      try say(host, Self.allowed)
      await lure(client, url(host), &tally)
      try say(host, address)
      clock.advance(by: .seconds(60))
      // The first may still go by the old answer, while the new one comes behind it.
      for _ in 0..<2 { await lure(client, url(host), &tally) }
    }
    await client.shutdown(within: .zero)
    return tally
  }

  /// An answer that nobody renews any more: what is refused while it is fresh is refused when it is stale.
  private func staleAnswers() async throws -> LureTally {
    let clock = ManualClock()
    let client = try client(clock)
    return try await each("stale", client) { host, address in
      server.behave()
      try say(host, address)
      _ = try? await client.resolver.resolve(host)
      clock.advance(by: .seconds(600))
      server.misbehave(.status(503))
    }
  }

  /// A store that somebody else has written, and providers that are dead.
  private func stored() async throws -> LureTally {
    server.misbehave(.status(503))
    defer { server.behave() }
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: "\(folder)/lying.sqlite"))
    let now = SystemClock().wallNow
    for (number, text) in Self.targets.enumerated() {
      let address = try Self.address(text)
      let question = AddressQuestion(try HostName("store-\(number).lure.example.net"), address.family)
      try await store.write([
        StoredAnswer(
          question, .addresses([address]), provider: "liar", asked: now, expires: now + .seconds(300),
          gone: now + .seconds(3000))
      ])
    }
    return try await each("store", try client { $0.store = store }) { _, _ in }
  }

  private func pinned() async throws -> LureTally {
    let client = try client { configuration in
      for (number, address) in Self.targets.enumerated() {
        configuration.localZones.pins[try HostName("pin-\(number).lure.example.net")] = [try Self.address(address)]
      }
    }
    return try await each("pin", client) { _, _ in }
  }

  /// One family is public, with nobody there where it is IPv6; the other one, which comes late, leads inside.
  private func lateFamilies() async throws -> LureTally {
    try await each("late", try client()) { host, address in
      let isIPv4 = try Self.address(address).family == .ipv4
      try say(host, address, isIPv4 ? "2606:4700::1111" : Self.allowed)
      server.behave()
      server.misbehave(.delay(.milliseconds(80))) { ($0.type == .a) == isIPv4 && $0.name == host }
    }
  }

  /// A connection that stands, to an address that the name no longer has.
  private func pooledConnections() async throws -> LureTally {
    let client = try client()
    var tally = LureTally()
    for (number, address) in Self.targets.enumerated() {
      let host = "pooled-\(number).lure.example.net"
      try say(host, Self.allowed)
      await lure(client, url(host), &tally)
      try say(host, address)
      client.resolver.invalidate(try HostName(host))
      await lure(client, url(host), &tally)
    }
    await client.shutdown(within: .zero)
    return tally
  }

  /// A configuration that forbids what was allowed a moment ago, while a connection to it stands.
  private func reloads() async throws -> LureTally {
    var tally = LureTally()
    for number in 0..<10 {
      let client = try client()
      let host = "reload-\(number).lure.example.net"
      try say(host, Self.allowed)
      await lure(client, url(host), &tally)
      var configuration = client.configuration
      configuration.policy.deniedNetworks = [try IPNetwork(parsing: "\(Self.allowed)/32")]
      try client.update(configuration)
      tally.lures += 1
      do {
        _ = try await client.get(url(host))
        tally.note("\(host) answered though its address is forbidden by now")
      } catch { tally.refused += 1 }
      await client.shutdown(within: .zero)
    }
    return tally
  }
}
