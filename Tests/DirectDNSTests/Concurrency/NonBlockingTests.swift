// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct NonBlockingTests {
  private static let host = ResolverFixture.host

  @Test func `what calls one of ours begins at once`() {
    for ours in [SystemDNS(), MemoryAnswerStore()] as [Any] {
      let isBegun = Locked(false)
      Task.detached(calling: ours) { isBegun.withLock { $0 = true } }
      #expect(isBegun.withLock { $0 })
    }
  }

  /// A transport, a system and a store that keep the thread that calls them until the gate is opened.
  private final class Blocking: HTTPTransport, SystemSource, AnswerStore {
    private let gate = DispatchSemaphore(value: 0)
    /// Whether each call ended because the gate was opened, and not after a third of the test's time.
    let ends = Watched<[Bool]>([])

    func open() { gate.signal() }

    private func block() {
      let isOpened = gate.wait(timeout: .now() + 20) == .success
      gate.signal()
      ends.change { $0.append(isOpened) }
    }

    func send(
      _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
    ) async throws(HTTPTransportError) -> HTTPReply {
      block()
      throw .connect("refused")
    }
    func networkDidChange() {}
    func shutdown() {}

    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      block()
      return .addresses("192.0.2.1")
    }

    var name: String { "blocking" }
    func read(_ questions: [AddressQuestion]) async -> [StoredAnswer] {
      block()
      return []
    }
    func write(_ answers: [StoredAnswer]) {}
    func remove(_ questions: [AddressQuestion]) {}
    func removeAll() {}
    func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) {}
  }

  @Test(arguments: ["transport", "system", "bootstrap", "store"])
  func `the thread that begins a lookup does not wait for an application's implementation that keeps it`(
    _ place: String
  ) async throws {
    let (blocking, clock) = (Blocking(), ManualClock())
    let scripted = (transport: ScriptedTransport(clock: clock), system: ScriptedSystem(clock: clock))
    var configuration = ResolverFixture.configuration(["one"])
    configuration.families = .ipv4
    if place == "bootstrap" { configuration.providers[0].bootstrap = [] }
    if place == "store" { configuration.store = blocking }
    let usesSystem = place == "system" || place == "bootstrap"
    let resolver = try DirectResolver(
      configuration, transport: place == "transport" ? blocking : scripted.transport, clock: clock,
      system: usesSystem ? blocking : scripted.system)
    let lookup = Task.immediate { _ = try? await resolver.resolve(Self.host) }
    blocking.open()
    await blocking.ends.wait { !$0.isEmpty }
    #expect(blocking.ends.value.allSatisfy { $0 })
    lookup.cancel()
    resolver.shutdown()
  }

  @Test func `a lookup waits for a store that keeps its thread no longer than its limit`() async throws {
    let blocking = Blocking()
    let fixture = try ResolverFixture { $0.store = blocking }
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: fixture.resolver.configuration.storeTimeout)
    #expect(await lookup.value.resolution?.texts == ["192.0.2.1"])
    blocking.open()
    await blocking.ends.wait { $0 == [true] }
  }
}
