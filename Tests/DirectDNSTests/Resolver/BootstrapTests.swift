// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct BootstrapTests {
  private let clock = ManualClock()
  private let system: ScriptedSystem
  private let bootstrap: Bootstrap

  init() {
    system = ScriptedSystem(clock: clock)
    bootstrap = Bootstrap(system: system, clock: clock)
    system.answer(Script.addresses("192.0.2.53", "2001:db8::53", ttl: 60))
  }

  private func provider(_ url: String, _ addresses: String...) -> ProviderConfiguration {
    ProviderConfiguration(
      provider: JSONProvider(name: "one", url: Sample.url(url)), bootstrap: addresses.map(Sample.address))
  }

  private func addresses(_ bootstrap: Bootstrap, _ provider: ProviderConfiguration) async throws -> [String] {
    try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses.map(\.description)
  }

  @Test func `an endpoint with addresses of its own needs no DNS`() async throws {
    #expect(try await addresses(bootstrap, provider("https://dns.example/", "192.0.2.9")) == ["192.0.2.9"])
    #expect(system.count == 0)
  }

  @Test func `an endpoint that is an address needs none`() async throws {
    #expect(try await addresses(bootstrap, provider("https://192.0.2.1/")) == [])
    #expect(try await addresses(bootstrap, provider("https://[2001:db8::1]/")) == [])
    #expect(system.count == 0)
  }

  @Test(arguments: ["http://localhost/", "https://localhost:8443/resolve", "http://dns.localhost/"])
  func `an endpoint on localhost is this machine, whatever the system's DNS says`(_ url: String) async throws {
    #expect(try await addresses(bootstrap, provider(url)) == ["127.0.0.1", "::1"])
    #expect(system.count == 0)
  }

  @Test func `an endpoint with a name alone is looked up by the system's DNS, both families`() async throws {
    let endpoint = try await bootstrap.endpoint(provider("https://dns.example/resolve"), timeout: .seconds(3))
    #expect(endpoint.origin == Origin(Sample.url("https://dns.example/")))
    #expect(endpoint.addresses == Sample.addresses("192.0.2.53", "2001:db8::53"))
    #expect(Set(system.asked.map(\.question.family)) == [.ipv4, .ipv6])
    #expect(system.asked.allSatisfy { $0.question.host == Sample.name("dns.example") })
    #expect(system.asked.allSatisfy { $0.timeout <= .seconds(3) })
  }

  @Test func `an address whose TTL is over serves on at once while it is looked up again`() async throws {
    let provider = provider("https://dns.example/")
    let endpoint = try await bootstrap.endpoint(provider, timeout: .seconds(3))
    clock.advance(by: .seconds(60))
    system.answer(Script.addresses("192.0.2.54", after: .milliseconds(100)))
    for _ in 0..<2 { #expect(try await addresses(bootstrap, provider) == ["192.0.2.53", "2001:db8::53"]) }
    #expect(system.count == 3)
    // Whoever cannot connect to the old one waits for that lookup.
    bootstrap.connectingFailed(endpoint)
    let caller = Task.immediate { [bootstrap] in try await bootstrap.endpoint(provider, timeout: .seconds(3)) }
    for _ in 0..<2 {
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(100))
    }
    #expect(try await caller.value.addresses == Sample.addresses("192.0.2.54"))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.54"])
    #expect(system.count == 4)
  }

  @Test func `it is looked up again when connecting failed`() async throws {
    let provider = provider("https://dns.example/")
    let endpoint = try await bootstrap.endpoint(provider, timeout: .seconds(3))
    bootstrap.connectingFailed(endpoint)
    system.answer(Script.addresses("192.0.2.54"))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.54"])
  }

  @Test func `on another network it is looked up again`() async throws {
    let provider = provider("https://dns.example/")
    _ = try await addresses(bootstrap, provider)
    bootstrap.networkDidChange()
    system.answer(Script.addresses("192.0.2.54"))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.54"])
  }

  @Test(arguments: [true, false])
  func `what was asked for before, on another network or of another source, is asked for again`(
    _ isNetwork: Bool
  ) async throws {
    system.answer(Script.addresses("192.0.2.53", after: .milliseconds(100)))
    let provider = provider("https://dns.example/")
    let caller = Task.immediate { [bootstrap] in try await bootstrap.endpoint(provider, timeout: .seconds(3)) }
    await clock.waitForSleepers()
    if isNetwork { bootstrap.networkDidChange() } else { bootstrap.update(system: system) }
    for _ in 0..<2 {
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(100))
    }
    #expect(try await caller.value.addresses == Sample.addresses("192.0.2.53"))
    system.answer(Script.addresses("192.0.2.54"))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.54"])
  }

  @Test func `who comes on another network does not wait for what was asked on the one before`() async throws {
    system.answer(Script.addresses("192.0.2.53", after: .seconds(1)))
    let provider = provider("https://dns.example/")
    let former = Task.immediate { [bootstrap] in
      try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses
    }
    await clock.waitForSleepers()
    bootstrap.networkDidChange()
    system.answer(Script.addresses("192.0.2.54"))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.54"])
    clock.advance(by: .seconds(1))
    #expect(try await former.value == Sample.addresses("192.0.2.53"))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.54"])
  }

  @Test func `while the system's DNS is dead, the addresses before serve on, and it is asked each 30 s`() async throws {
    let provider = provider("https://dns.example/")
    let endpoint = try await bootstrap.endpoint(provider, timeout: .seconds(3))
    system.answer { _ in .error(.connectionLost("unplugged")) }
    for _ in 0..<3 {
      bootstrap.connectingFailed(endpoint)
      let asked = system.count
      for _ in 0..<2 { #expect(try await addresses(bootstrap, provider) == ["192.0.2.53", "2001:db8::53"]) }
      #expect(system.count == asked + 2 && system.asked.last?.timeout == .milliseconds(300))
      clock.advance(by: .seconds(30))
      _ = try await addresses(bootstrap, provider)
      #expect(system.count == asked + 4)
    }
    bootstrap.update(system: nil)
    clock.advance(by: .seconds(600))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.53", "2001:db8::53"])
  }

  @Test func `without any address the failure names the host and the reason, and is kept for a while`() async throws {
    let provider = provider("https://dns.example/")
    system.answer { _ in .error(.connectionLost("unplugged")) }
    let failure = await #expect(throws: ProviderFailure.self) { try await addresses(bootstrap, provider) }
    #expect(failure?.kind == .transport)
    #expect(failure?.reason.contains("dns.example") == true)
    #expect(failure?.reason.contains("unplugged") == true)
    for _ in 0..<100 {
      let again = await #expect(throws: ProviderFailure.self) { try await addresses(bootstrap, provider) }
      #expect(again == failure)
    }
    #expect(system.count == 2)
    clock.advance(by: .seconds(1))
    system.answer { _ in .answer(.negative(.nameNotFound)) }
    let second = await #expect(throws: ProviderFailure.self) { try await addresses(bootstrap, provider) }
    #expect(second?.reason.contains("dns.example") == true)
    bootstrap.networkDidChange()
    system.answer(Script.addresses("192.0.2.53"))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.53"])
  }

  @Test func `without the system's DNS the failure says what to do`() async {
    let failure = await #expect(throws: ProviderFailure.self) {
      try await addresses(Bootstrap(system: nil, clock: clock), provider("https://dns.example/"))
    }
    #expect(failure?.reason.contains("--bootstrap") == true)
  }

  @Test func `many who need it ask once`() async throws {
    system.answer(Script.addresses("192.0.2.53", after: .milliseconds(100)))
    let provider = provider("https://dns.example/")
    let callers = (0..<20).map { _ in
      Task.immediate { [bootstrap] in try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses }
    }
    for _ in 0..<2 {
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(100))
    }
    for caller in callers { #expect(try await caller.value == Sample.addresses("192.0.2.53")) }
    #expect(system.count == 2)
  }

  @Test func `who comes just as a lookup ends takes what it found`() async throws {
    for number in 0..<300 {
      let provider = provider("https://dns\(number).example/")
      try await withThrowingTaskGroup(of: [IPAddress].self) { [bootstrap] group in
        for _ in 0..<4 {
          group.addTask { try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses }
        }
        for try await found in group { #expect(found.count == 2) }
      }
    }
    #expect(system.count == 600)
  }

  @Test func `a caller who is cancelled does not wait for it`() async throws {
    system.answer(Script.addresses("192.0.2.53", after: .seconds(1)))
    let provider = provider("https://dns.example/")
    let caller = Task.immediate { [bootstrap] in
      try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses
    }
    await clock.waitForSleepers()
    caller.cancel()
    let failure = await #expect(throws: ProviderFailure.self) { try await caller.value }
    #expect(failure?.kind == .cancelled)
    // What was begun is kept for the next.
    for _ in 0..<2 {
      await clock.waitForSleepers()
      clock.advance(by: .seconds(1))
    }
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.53"])
    #expect(system.count == 2)
  }

  @Test func `a caller with little time takes none of it from those who have more`() async throws {
    system.answer(Script.addresses("192.0.2.53", after: .milliseconds(100)))
    let provider = provider("https://dns.example/")
    let short = Task.immediate { [bootstrap] in
      try await bootstrap.endpoint(provider, timeout: .milliseconds(60)).addresses
    }
    let long = Task.immediate { [bootstrap] in
      try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses
    }
    await clock.waitForSleepers(2)
    #expect(system.asked.map(\.timeout) == [.milliseconds(1500)])
    clock.advance(by: .milliseconds(60))
    let failure = await #expect(throws: ProviderFailure.self) { try await short.value }
    #expect(failure == .noTimeLeft)
    clock.advance(by: .milliseconds(40))
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(100))
    #expect(try await long.value == Sample.addresses("192.0.2.53"))
    #expect(system.count == 2)
  }

  @Test func `who has little time goes on with the addresses before`() async throws {
    let provider = provider("https://dns.example/")
    let endpoint = try await bootstrap.endpoint(provider, timeout: .seconds(3))
    bootstrap.connectingFailed(endpoint)
    system.answer(Script.addresses("192.0.2.54", after: .milliseconds(200)))
    let caller = Task.immediate { [bootstrap] in
      try await bootstrap.endpoint(provider, timeout: .milliseconds(100)).addresses
    }
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(50))
    #expect(try await caller.value == endpoint.addresses)
    // What was begun is kept for the next.
    clock.advance(by: .milliseconds(150))
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(200))
    #expect(try await addresses(bootstrap, provider) == ["192.0.2.54"])
    #expect(system.count == 4)
  }

  @Test func `one of several who wait leaves alone`() async throws {
    system.answer(Script.addresses("192.0.2.53", after: .seconds(1)))
    let provider = provider("https://dns.example/")
    let callers = (0..<3).map { _ in
      Task.immediate { [bootstrap] in try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses }
    }
    await clock.waitForSleepers()
    callers[1].cancel()
    await #expect(throws: ProviderFailure.self) { try await callers[1].value }
    for _ in 0..<2 {
      await clock.waitForSleepers()
      clock.advance(by: .seconds(1))
    }
    for caller in [callers[0], callers[2]] { #expect(try await caller.value == Sample.addresses("192.0.2.53")) }
    #expect(system.count == 2)
  }

  @Test func `a caller who was cancelled before waits for nothing`() async {
    system.answer(Script.addresses("192.0.2.53", after: .seconds(1)))
    let provider = provider("https://dns.example/")
    let caller = Task.immediate { [bootstrap] in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await bootstrap.endpoint(provider, timeout: .seconds(3)).addresses
    }
    let failure = await #expect(throws: ProviderFailure.self) { try await caller.value }
    #expect(failure?.kind == .cancelled)
    // The lookup goes on for whoever comes next, and ends by itself.
    for asked in 1...2 {
      await system.waitForAsked(asked)
      await clock.waitForSleepers()
      #expect(system.count == asked)
      clock.advance(by: .seconds(1))
    }
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `different names never wait for one another`() async throws {
    system.answer { question in
      question.host == Sample.name("slow.example")
        ? Script.addresses("192.0.2.1", after: .seconds(1))(question) : Script.addresses("192.0.2.2")(question)
    }
    let slow = provider("https://slow.example/")
    let waiting = Task.immediate { [bootstrap] in
      try await bootstrap.endpoint(slow, timeout: .seconds(3)).addresses
    }
    await clock.waitForSleepers()
    #expect(try await addresses(bootstrap, provider("https://quick.example/")) == ["192.0.2.2"])
    for _ in 0..<2 {
      await clock.waitForSleepers()
      clock.advance(by: .seconds(1))
    }
    #expect(try await waiting.value == Sample.addresses("192.0.2.1"))
  }
}
