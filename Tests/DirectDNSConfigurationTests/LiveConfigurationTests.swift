// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DirectDNSTesting

/// What a followed file has to say, and to whom.
@Suite(.timeLimit(.minutes(1)))
final class LiveConfigurationTests: LiveConfigurationFixture {
  @Test func `the observer of a resolver that a change is told to may ask what holds`() throws {
    let live = try live("{ timeout: 2 }")
    // What it keeps for its resolvers would keep itself.
    let asked = Watched<LiveConfiguration?>(live)
    defer { asked.change { $0 = nil } }
    let resolver = try live.makeResolver { $0.observer = { _ in _ = asked.value?.settings } }
    // The answers of lookups are told by whoever has the resolver do something, an update too.
    let lookups = (0..<50).map { number in
      Task { try? await resolver.resolve("host-\(number).invalid") }
    }
    for number in 3..<50 {
      try change("{ timeout: \(number) }")
      try live.reload()
    }
    for lookup in lookups { lookup.cancel() }
    resolver.shutdown()
    #expect(live.settings.resolver.timeout == .seconds(49))
  }

  @Test func `what the program knows better goes before the file, from the first state to the last`() throws {
    let live = try live("{ timeout: 2 }")
    let resolver = try live.makeResolver { $0.timeout = min($0.timeout, .seconds(4)) }
    let client = try live.makeClient(resolver: resolver) { $0.policy = .any }
    #expect(resolver.configuration.timeout == .seconds(2) && client.configuration.policy == .any)
    for (text, timeout) in [("{ timeout: 9 }", Duration.seconds(4)), ("{ timeout: 3 }", .seconds(3))] {
      try change(text)
      live.reloadIfChanged()
      #expect(resolver.configuration.timeout == timeout && client.configuration.policy == .any)
    }
  }

  @Test func `a resolver that has the settings begins anew with nothing until they say something else`() throws {
    let live = try live("{ timeout: 2 }")
    let resolver = try live.makeResolver()
    try live.keep(resolver)
    try live.reload()
    #expect(resolver.lookups.look { $0.generation } == 0 && resolver.configuration.timeout == .seconds(2))
    try change("{ timeout: 3 }")
    try live.reload()
    #expect(resolver.lookups.look { $0.generation } == 1 && resolver.configuration.timeout == .seconds(3))
    resolver.shutdown()
  }

  @Test func `nothing of it is a secret's way into the log`() throws {
    let secret = "deadbeef5ec2e7"
    let live = try live("{}")
    for text in [
      "{ providers: [{ provider: 'alidns', credentials: { account: '1', keyID: 'k', secret: '\(secret)' } }] }",
      "{ providers: [{ provider: 'alidns', credentials: { account: '1', keyID: 'k', secret: '\(secret)0' } }] }",
      "{ providers: [{ provider: 'alidns', credentials: { secert: '\(secret)' } }] }",
      "{ providers: [{ provider: 'alidns', credentials: { secret: '\(secret)' } }] }",
      "{ providers: ['json+https://192.0.2.1/r?key=\(secret)'] }", "{ providers: [{ secret: '\(secret) }] }",
    ] {
      try change(text)
      live.reloadIfChanged()
    }
    #expect(log.text.contains("credentials changed"))
    #expect(log.lines.withLock(\.count) >= 6)
    #expect(!log.text.contains(secret))
  }

  @Test func `a file that cannot be used at the beginning is an error`() throws {
    let error = #expect(throws: DirectDNSError.self) { try LiveConfiguration(path: path, environment: [:]) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message == "\(path): the configuration file cannot be read: there is no such file.")
    let endless = #expect(throws: DirectDNSError.self) {
      try LiveConfiguration(path: "/dev/zero", environment: [:])
    }
    #expect(endless?.message == "/dev/zero: that is not a configuration file: it is longer than 16 MiB.")
    try folder.write("{ direct: 'of' }", to: "c.json5")
    let wrong = #expect(throws: DirectDNSError.self) { try LiveConfiguration(path: path, environment: [:]) }
    #expect(wrong?.code == .invalidConfiguration && wrong?.message.contains("direct") == true)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(-1)])
  func `an interval that leaves no time between two looks is refused`(_ interval: Duration) throws {
    try folder.write("{}", to: "c.json5")
    let error = #expect(throws: DirectDNSError.self) {
      try LiveConfiguration(path: path, environment: [:], interval: interval)
    }
    #expect(error?.code == .invalidConfiguration && error?.message.hasPrefix("interval is \(interval): ") == true)
  }

  @Test func `the environment goes before the file, and the program before both`() throws {
    try folder.write("{ timeout: 2, expired: 'refused', hedging: true }", to: "c.json5")
    let live = try LiveConfiguration(path: path, environment: ["DIRECTDNS_TIMEOUT": "9"]) {
      $0.resolver.hedges = false
    }
    #expect(live.settings.resolver.timeout == .seconds(9) && live.settings.lookup.expired == .refused)
    #expect(!live.settings.resolver.hedges)
    try change("{ timeout: 3, expired: 'preferred' }")
    #expect(try live.reload().changes == ["expired: refused → preferred"])
    #expect(live.settings.resolver.timeout == .seconds(9) && !live.settings.resolver.hedges)
  }

  @Test func `what the program makes of the file is taken on with each reading, be the file the same`() throws {
    let host = Locked("one.example")
    let certificates = Locked("/0")
    try folder.write("{}", to: "c.json5")
    let live = try LiveConfiguration(path: path, environment: [:]) { settings in
      let text = "doh+https://\(host.withLock { $0 })/q"
      settings.resolver.providers = [text].compactMap { try? ProviderConfiguration($0) }
      settings.resolver.trust.certificateFolder = certificates.withLock { $0 }
    }
    let resolver = try live.makeResolver()
    #expect(resolver.configuration.providers.map(\.provider.name) == ["one.example"])
    host.withLock { $0 = "two.example" }
    #expect(try live.reload().changes == ["providers: +two.example -one.example"])
    #expect(resolver.configuration.providers.map(\.provider.name) == ["two.example"])
    certificates.withLock { $0 = "/1" }
    try live.reload()
    #expect(resolver.configuration.trust.certificateFolder == "/1")
    resolver.shutdown()
  }

  @Test func `those that were dropped or shut down are kept no longer`() async throws {
    let live = try live("{ timeout: 2 }")
    weak var resolver: DirectResolver?
    weak var client: DirectClient?
    do {
      let (first, second) = (try live.makeResolver(), try live.makeResolver())
      (resolver, client) = (first, try live.makeClient(resolver: second))
      first.shutdown()
      second.shutdown()
    }
    #expect(resolver == nil && client == nil)
    let ended = try live.makeResolver()
    let endedClient = try live.makeClient(resolver: ended)
    let other = try live.makeResolver()
    await endedClient.shutdown()
    ended.shutdown()
    try change("{ timeout: 3, direct: 'off' }")
    try live.reload()
    #expect(ended.configuration.timeout == .seconds(2) && endedClient.configuration.direct == .on)
    #expect(other.configuration.timeout == .seconds(3))
    other.shutdown()
  }
}
