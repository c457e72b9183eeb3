// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNSPrometheus
import Foundation
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DirectDNSTesting

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.timeLimit(.minutes(1)))
struct LiveConfigurationTests {
  private let folder = TestFolder()
  private let clock = ManualClock()
  private let log = RecordingLog()
  private var path: String { folder / "c.json5" }

  private func live(
    _ text: String, observer: @escaping @Sendable (Result<SettingsDifference, DirectDNSError>) -> Void = { _ in },
    check: @escaping LiveConfiguration.Check = { _ in }
  ) throws -> LiveConfiguration {
    try folder.write(text, to: "c.json5")
    return try LiveConfiguration(
      ConfigurationPath(name: path), interval: .seconds(1), clock: clock, logger: log.logger, check: check,
      observer: { outcome, _ in observer(outcome) }
    ) { bytes, name throws(ConfigurationFault) in
      try DirectSettings(
        ConfigurationFile(checking: bytes, name: name), environment: EnvironmentSettings([:]),
        overrides: SettingsOverrides())
    }
  }

  private func change(_ text: String) throws {
    try folder.write(text, to: "new")
    try folder.move("new", onto: "c.json5")
  }

  // MARK: Reading

  @Test func `every outcome of a reading has a series from the beginning, so that an alert sees the first refusal`()
    throws
  {
    let registry = PrometheusRegistry()
    try withMetricsFactory(registry) {
      let live = try live("{ timeout: 2 }")
      func count(_ outcome: String) -> Bool { registry.text().contains("reads_total{outcome=\"\(outcome)\"} 0\n") }
      #expect(["applied", "unchanged", "refused"].allSatisfy(count))
      try change("{ timeout: 0 }")
      live.reloadIfChanged()
      #expect(!count("refused") && count("applied"))
    }
  }

  @Test func `a FIFO in the file's place is not waited for, and what held holds on`() throws {
    let live = try live("{ timeout: 2 }")
    let resolver = try live.makeResolver()
    #expect(unsafe mkfifo(folder / "fifo", 0o600) == 0)
    try folder.move("fifo", onto: "c.json5")
    live.reloadIfChanged()
    #expect(resolver.configuration.timeout == .seconds(2))
    try change("{ timeout: 3 }")
    live.reloadIfChanged()
    #expect(resolver.configuration.timeout == .seconds(3))
    resolver.shutdown()
  }

  @Test func `the observer of a resolver that a change is told to may ask what holds`() throws {
    let live = try live("{ timeout: 2 }")
    let resolver = try live.makeResolver { $0.observer = { _ in _ = live.settings } }
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

  @Test func `a change is taken on by all that are kept to the file, and logged`() throws {
    let live = try live("{ timeout: 2, direct: 'on' }")
    let resolver = try live.makeResolver { $0.capacity = 77 }
    let client = try live.makeClient(resolver: resolver) { $0.userAgent = "mine" }
    #expect(resolver.configuration.timeout == .seconds(2) && client.configuration.direct == .on)
    try change(
      """
      { timeout: 3, direct: { off: ["bank.example"] }, addressPolicy: "any", expired: "refused",
        providers: ["quad9"], pins: { "www.example.com": ["192.0.2.1"] }, capacity: 5 }
      """)
    live.reloadIfChanged()
    #expect(resolver.configuration.timeout == .seconds(3) && resolver.configuration.capacity == 77)
    #expect(resolver.configuration.providers.map(\.provider.name) == ["quad9"])
    #expect(resolver.cached("www.example.com")?.source == .pin)
    #expect(client.configuration.direct == .offUnder([try HostName("bank.example")]))
    #expect(client.configuration.policy == .any && client.configuration.lookup.expired == .refused)
    #expect(client.configuration.userAgent == "mine" && client.configuration.redirects != nil)
    #expect(live.settings.direct == client.configuration.direct)
    for line in [
      "notice configuration changed change=direct: on → off for bank.example file=\(path)",
      "notice configuration changed change=providers: +quad9 -alidns -google -cloudflare file=\(path)",
      "notice configuration changed change=pins: +www.example.com 192.0.2.1 file=\(path)",
      "change=timeout: 2.0 seconds → 3.0 seconds",
    ] { #expect(log.text.contains(line)) }
    resolver.shutdown()
  }

  @Test func `what the program cannot use changes nothing, not even what could be used of it`() throws {
    let live = try live(
      "{ timeout: 2 }",
      check: { settings throws(DirectDNSError) in
        guard settings.direct == .on else { throw DirectDNSError(.invalidConfiguration, "direct has to be on") }
      })
    let resolver = try live.makeResolver()
    try change("{ timeout: 3, direct: 'off' }")
    live.reloadIfChanged()
    #expect(resolver.configuration.timeout == .seconds(2) && live.settings.direct == .on)
    #expect(log.text.contains("reason=\(path): direct has to be on") && !log.text.contains("change="), "\(log.text)")
    try change("{ timeout: 3 }")
    live.reloadIfChanged()
    #expect(resolver.configuration.timeout == .seconds(3))
    resolver.shutdown()
  }

  @Test func `a file that everybody may write to is not gone by, and one of another user is warned of`() throws {
    let live = try live("{ timeout: 2 }")
    try change("{ timeout: 3 }")
    #expect(unsafe chmod(path, 0o666) == 0)
    live.reloadIfChanged()
    #expect(live.settings.resolver.timeout == .seconds(2))
    #expect(log.text.contains("may be written to by everybody (mode 666)"), "\(log.text)")
    #expect(unsafe chmod(path, 0o644) == 0)
    live.reloadIfChanged()
    #expect(live.settings.resolver.timeout == .seconds(3))
    guard getuid() == 0 else { return }
    #expect(unsafe chown(path, 12345, 0) == 0)
    live.reloadIfChanged()
    #expect(log.text.contains("warning others may write to the configuration file"), "\(log.text)")
  }

  @Test(arguments: [
    ("{ timeout: ", "line 1, column"), ("{ timeuot: 3 }", "timeuot is not a key"),
    ("{ providers: [], system: false, timeout: 3 }", "no server could be asked"),
    ("{ ca: ['/there/is/none.pem'], timeout: 3 }", "/there/is/none.pem"), ("{ direct: ['a'] }", "direct is a list"),
    ("", "line 1, column 1"),
  ])
  func `a file that cannot be used changes nothing, and the log says once what is wrong`(
    text: String, reason: String
  ) throws {
    let live = try live("{ timeout: 2 }")
    let resolver = try live.makeResolver()
    let client = try live.makeClient(resolver: resolver)
    try change(text)
    for _ in 0..<3 { live.reloadIfChanged() }
    #expect(resolver.configuration.timeout == .seconds(2) && live.settings.resolver.timeout == .seconds(2))
    #expect(client.configuration.direct == .on)
    let errors = log.lines.withLock { $0.filter { $0.hasPrefix("error") } }
    #expect(errors.count == 1)
    #expect(errors.first?.contains(reason) == true && errors.first?.contains(path) == true)
    let error = #expect(throws: DirectDNSError.self) { try live.reload() }
    #expect(error?.code == .invalidConfiguration)
    try change("{ timeout: 4 }")
    live.reloadIfChanged()
    #expect(resolver.configuration.timeout == .seconds(4))
    resolver.shutdown()
  }

  @Test func `a file that is gone changes nothing, and one that comes back is read`() throws {
    let live = try live("{ timeout: 2 }")
    try folder.remove("c.json5")
    live.reloadIfChanged()
    live.reloadIfChanged()
    #expect(live.settings.resolver.timeout == .seconds(2))
    #expect(log.lines.withLock { $0.count { $0.contains("there is no such file") } } == 1)
    try folder.write("{ timeout: 3 }", to: "c.json5")
    live.reloadIfChanged()
    #expect(live.settings.resolver.timeout == .seconds(3))
  }

  @Test func `what the file is not to blame for is tried again at each look, and told once`() throws {
    try folder.write("{ timeout: 2 }", to: "c.json5")
    let fault = Locked<String?>(nil)
    let outcomes = Locked<[String]>([])
    let live = try LiveConfiguration(
      ConfigurationPath(name: path), interval: .seconds(1), clock: clock, logger: log.logger,
      observer: { outcome, _ in
        outcomes.withLock { $0.append((try? outcome.get().description) ?? "refused") }
      }
    ) { bytes, name throws(ConfigurationFault) in
      if let fault = fault.withLock({ $0 }) { throw .passing(fault) }
      return try DirectSettings(
        ConfigurationFile(checking: bytes, name: name), environment: EnvironmentSettings([:]),
        overrides: SettingsOverrides())
    }
    let resolver = try live.makeResolver()
    try change("{ timeout: 3 }")
    fault.withLock { $0 = "no descriptor is free" }
    for _ in 0..<3 { live.reloadIfChanged() }
    #expect(outcomes.withLock { $0 } == ["refused"])
    // Another reason is told as well.
    fault.withLock { $0 = "no memory" }
    for _ in 0..<3 { live.reloadIfChanged() }
    fault.withLock { $0 = nil }
    for _ in 0..<3 { live.reloadIfChanged() }
    #expect(outcomes.withLock { $0 } == ["refused", "refused", "timeout: 2.0 seconds → 3.0 seconds"])
    #expect(resolver.configuration.timeout == .seconds(3))
    resolver.shutdown()
  }

  @Test func `a file of ca may come later than the configuration that names it`() throws {
    let live = try live("{ timeout: 2 }")
    let resolver = try live.makeResolver()
    try change("{ timeout: 3, ca: ['late.pem'] }")
    for _ in 0..<3 { live.reloadIfChanged() }
    #expect(resolver.configuration.timeout == .seconds(2))
    #expect(log.lines.withLock { $0.count { $0.contains("late.pem") } } == 1)
    try folder.write(try TestCertificateAuthority().certificate, to: "late.pem")
    for _ in 0..<3 { live.reloadIfChanged() }
    #expect(resolver.configuration.timeout == .seconds(3))
    #expect(log.lines.withLock { $0.count { $0.contains("timeout: 2.0 seconds → 3.0 seconds") } } == 1)
    resolver.shutdown()
  }

  @Test func `what keeps a file from being read may pass, and its length does not`() throws {
    for (name, mayPass) in [(folder.path, true), ("/dev/zero", false)] {
      let fault = #expect(throws: ConfigurationFault.self) { try ConfigurationPath(name: name).read(waits: false) }
      #expect(fault?.mayPass == mayPass, "\(name)")
    }
  }

  @Test func `where one cannot go by the file, none does`() throws {
    let live = try live("{ timeout: 2 }")
    let pinned = try live.makeResolver()
    // A resolver that has used up its names of providers refuses a new one.
    let full = try live.makeResolver()
    for number in 0..<SourceNames.providerLimit { _ = full.cache.sources.code(ofProvider: "n\(number)") }
    try change("{ timeout: 3, providers: ['quad9'] }")
    let error = #expect(throws: DirectDNSError.self) { try live.reload() }
    #expect(error?.message.contains("quad9") == true)
    #expect(pinned.configuration.timeout == .seconds(2) && full.configuration.timeout == .seconds(2))
    #expect(pinned.configuration.providers.map(\.provider.name) == ["alidns", "google", "cloudflare"])
    #expect(live.settings.resolver.timeout == .seconds(2))
    for resolver in [pinned, full] { resolver.shutdown() }
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
    #expect(throws: DirectDNSError.self) { try LiveConfiguration(path: path, environment: [:]) }
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

  // MARK: Watching

  @Test func `the file is looked at each second, and a link that is swapped is seen`() async throws {
    let outcomes = Watched<[String]>([])
    try folder.write("{ timeout: 2 }", to: "1/c.json5")
    try folder.write("{ timeout: 3 }", to: "2/c.json5")
    try folder.link("..data", to: "1")
    try folder.link("linked", to: "..data/c.json5")
    let live = try LiveConfiguration(
      ConfigurationPath(name: folder / "linked"), interval: .seconds(1), clock: clock, logger: log.logger,
      observer: { outcome, settings in
        outcomes.change {
          $0.append("\((try? outcome.get().description) ?? "refused"), now \(settings.resolver.timeout)")
        }
      }
    ) { bytes, name throws(ConfigurationFault) in
      try DirectSettings(
        ConfigurationFile(checking: bytes, name: name), environment: EnvironmentSettings([:]),
        overrides: SettingsOverrides())
    }
    let running = Task { try await live.run() }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers()
    #expect(outcomes.value.isEmpty)
    try folder.link("..data", to: "2")
    clock.advance(by: .milliseconds(500))
    #expect(outcomes.value.isEmpty)
    clock.advance(by: .milliseconds(500))
    await outcomes.wait { $0.count == 1 }
    #expect(outcomes.value == ["timeout: 2.0 seconds → 3.0 seconds, now 3.0 seconds"])
    #expect(live.settings.resolver.timeout == .seconds(3))
    running.cancel()
    _ = await running.result
  }

  @Test func `without signals it is followed just so`() async throws {
    let outcomes = Watched<[String]>([])
    let live = try live("{ timeout: 2 }") { outcome in
      outcomes.change { $0.append((try? outcome.get().description) ?? "refused") }
    }
    let following = Task { await live.follow() }
    await clock.waitForSleepers()
    try change("{ timeout: 3 }")
    clock.advance(by: .seconds(1))
    await outcomes.wait { $0.count == 1 }
    #expect(live.settings.resolver.timeout == .seconds(3))
    following.cancel()
    await following.value
  }

  @Test func `SIGHUP has the file read at once, and ends no process`() async {
    await #expect(processExitsWith: .success) { try await Self.hangUp() }
  }

  /// In a process of its own: a signal is the whole process's.
  private static func hangUp() async throws {
    let folder = TestFolder()
    let path = folder / "c.json5"
    try folder.write("{ direct: 'on' }", to: "c.json5")
    let (outcomes, continuation) = AsyncStream.makeStream(of: String.self)
    let (ready, readiness) = AsyncStream.makeStream(of: Void.self)
    // Its time stands still: only the signal can be the reason.
    let live = try LiveConfiguration(
      path: path, environment: EnvironmentSettings([:]), overrides: SettingsOverrides(), clock: ManualClock(),
      observer: { outcome, _ in continuation.yield((try? outcome.get().description) ?? "refused") })
    let running = Task { try await live.run { readiness.yield() } }
    for await _ in ready { break }
    var seen: [String] = []
    var steps = ["{ direct: 'off' }", "{ direct: ", "{ direct: 'on' }"].makeIterator()
    func step() throws {
      guard let text = steps.next() else { return }
      try folder.write(text, to: "c.json5")
      kill(getpid(), SIGHUP)
    }
    try step()
    for await outcome in outcomes {
      seen.append(outcome)
      if seen.count == 3 { break }
      try step()
    }
    precondition(seen == ["direct: on → off", "refused", "direct: off → on"], "\(seen)")
    running.cancel()
    _ = await running.result
  }
}
