// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNSPrometheus
import Dispatch
import Logging
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DirectDNSTesting

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Changes that are applied, and files that change nothing.
@Suite(.timeLimit(.minutes(1)))
final class LiveConfigurationReloadingTests: LiveConfigurationFixture {
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

  @Test func `that a file says again what is in force is as visible as that it could not be used`() throws {
    let told = Locked<[Bool]>([])
    let live = try live("{ timeout: 2 }") { _, _, wasRefused in told.withLock { $0.append(wasRefused) } }
    let line = "configuration read: nothing has changed file=\(path)"
    for (timeout, logged) in [(2, ["info"]), (0, ["info"]), (2, ["info", "notice"])] {
      try change("{ timeout: \(timeout) }")
      live.reloadIfChanged()
      #expect(["info", "notice"].filter { log.text.contains("\($0) \(line)") } == logged)
    }
    #expect(told.withLock(\.self) == [false, false, true])
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

  @Test func `of two readings at once the one that is told of last has the settings that are in force`() async throws {
    try folder.write("{ timeout: 2 }", to: "c.json5")
    let (told, isHeld, proceed) = (Watched<[Duration]>([]), Watched(false), DispatchSemaphore(value: 0))
    let live = try LiveConfiguration(
      path, interval: .seconds(1), clock: clock, logger: log.logger,
      observer: { _, settings, _ in
        if settings.resolver.timeout == .seconds(3) {
          isHeld.change { $0 = true }
          proceed.wait()
        }
        told.change { $0.append(settings.resolver.timeout) }
      }
    ) { bytes, name throws(ConfigurationFault) in
      try DirectSettings(
        ConfigurationFile(checking: bytes, name: name), environment: EnvironmentSettings([:]),
        overrides: SettingsOverrides())
    }
    try change("{ timeout: 3 }")
    DispatchQueue.global().async { live.reloadIfChanged() }
    await isHeld.wait { $0 }
    try change("{ timeout: 4 }")
    DispatchQueue.global().async { live.reloadIfChanged() }
    while live.settings.resolver.timeout != .seconds(4) { await Task.yield() }
    proceed.signal()
    await told.wait { $0.count == 2 }
    #expect(told.value == [.seconds(3), .seconds(4)])
  }

  @Test func `an observer may have the file read again, and is told of that when it has returned`() throws {
    try folder.write("{ timeout: 2 }", to: "c.json5")
    let (told, following) = (Locked<[String]>([]), Locked<LiveConfiguration?>(nil))
    let live = try LiveConfiguration(
      path: path, environment: [:],
      observer: { outcome in
        told.withLock { $0.append("\(outcome.map(\.changes.count))") }
        if told.withLock(\.count) == 1 { _ = try? following.withLock(\.self)?.reload() }
        told.withLock { $0.append("returned") }
      })
    following.withLock { $0 = live }
    try change("{ timeout: 3 }")
    try live.reload()
    #expect(told.withLock(\.self) == ["success(1)", "returned", "success(0)", "returned"])
    following.withLock { $0 = nil }
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

  @Test(.enabled(if: geteuid() == 0, "root alone can give a file to another user"))
  func `what is tried again at each look is warned of once`() throws {
    let live = try live("{ timeout: 2 }")
    let resolver = try live.makeResolver()
    try change("{ ca: ['late.pem'] }")
    #expect(unsafe chown(path, 12345, 0) == 0)
    for _ in 0..<3 { live.reloadIfChanged() }
    #expect(log.lines.withLock { $0.count { $0.hasPrefix("warning ") } } == 1, "\(log.text)")
    resolver.shutdown()
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
      path, interval: .seconds(1), clock: clock, logger: log.logger,
      observer: { outcome, _, _ in
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
      let fault = #expect(throws: ConfigurationFault.self) { try LiveConfiguration.bytes(of: name, waits: false) }
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
}
