// SPDX-License-Identifier: Apache-2.0
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

/// When the file is looked at.
@Suite(.timeLimit(.minutes(1)))
final class LiveConfigurationServiceTests: LiveConfigurationFixture {
  @Test func `the file is looked at each second, and a link that is swapped is seen`() async throws {
    let outcomes = Watched<[String]>([])
    try folder.write("{ timeout: 2 }", to: "1/c.json5")
    try folder.write("{ timeout: 3 }", to: "2/c.json5")
    try folder.link("..data", to: "1")
    try folder.link("linked", to: "..data/c.json5")
    let live = try LiveConfiguration(
      folder / "linked", interval: .seconds(1), clock: clock, logger: log.logger,
      observer: { outcome, settings, _ in
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
    let live = try live("{ timeout: 2 }") { outcome, _, _ in
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
    await #expect(processExitsWith: .success) { try await LiveConfigurationServiceTests.hangUp() }
  }

  /// In a process of its own: a signal is the whole process's.
  static func hangUp() async throws {
    let folder = TestFolder()
    let path = folder / "c.json5"
    try folder.write("{ direct: 'on' }", to: "c.json5")
    let (outcomes, continuation) = AsyncStream.makeStream(of: String.self)
    let (ready, readiness) = AsyncStream.makeStream(of: Void.self)
    // Its time stands still: only the signal can be the reason.
    let live = try LiveConfiguration(
      path: path, environment: EnvironmentSettings([:]), overrides: SettingsOverrides(), clock: ManualClock(),
      observer: { outcome, _, _ in continuation.yield((try? outcome.get().description) ?? "refused") })
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
