import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct FlightWaitTests {
  /// A flight that lands when the test says so.
  private struct Runway: Sendable {
    let flight: Flight<FlightOutcome>
    private let outcome = Watched<FlightOutcome?>(nil)

    init() {
      let flights = SingleFlight<Int, FlightOutcome>()
      flight = flights.flight(0) { [outcome] in
        await outcome.wait { $0 != nil }
        return outcome.value ?? .failed(DirectDNSError(.cancelled, ""))
      }
    }

    func land(_ value: FlightOutcome) async {
      outcome.change { $0 = value }
      await withCheckedContinuation { continuation in flight.observe { _ in continuation.resume() } }
    }
  }

  private static let life = Sample.life(0, 100)
  private let good4 = FlightOutcome.answered(.addresses("192.0.2.1"), .provider("one"), life)
  private let good6 = FlightOutcome.answered(.addresses("2001:db8::1"), .provider("one"), life)
  private let empty = FlightOutcome.answered(.negative(.noAddress), .provider("one"), life)
  private let failed = FlightOutcome.failed(DirectDNSError(.upstreamFailed, "no"))
  private let clock = ManualClock()

  private func wait(
    _ flights: [(IPAddress.Family, Runway)], for purpose: FamilyRace.Purpose = .connecting,
    until deadline: ResolverInstant? = nil
  ) -> Task<FlightWait.Result, Never> {
    Task.immediate { [clock] in
      await FlightWait(AddressFamilies(flights.map(\.0)), for: purpose, clock: clock)
        .run(flights.map { ($0.0, $0.1.flight) }, until: deadline)
    }
  }

  private func families(_ result: FlightWait.Result) -> Set<IPAddress.Family> { Set(result.outcomes.keys) }

  @Test func `both answers come when IPv6 joins within 50 ms`() async {
    let (four, six) = (Runway(), Runway())
    let waiting = wait([(.ipv6, six), (.ipv4, four)])
    await four.land(good4)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(49))
    await six.land(good6)
    #expect(families(await waiting.value) == [.ipv4, .ipv6])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `IPv4 goes alone when 50 ms are over`() async {
    let (four, six) = (Runway(), Runway())
    let waiting = wait([(.ipv6, six), (.ipv4, four)])
    await four.land(good4)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(50))
    let result = await waiting.value
    #expect(families(result) == [.ipv4])
    #expect(!result.isCancelled)
    await six.land(good6)
  }

  @Test(arguments: [49, 50]) func `who is handed addresses gets those that follow IPv6 within 50 ms`(
    _ milliseconds: Int
  ) async {
    let (four, six) = (Runway(), Runway())
    let waiting = wait([(.ipv6, six), (.ipv4, four)], for: .handingOut)
    await six.land(good6)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(milliseconds))
    guard milliseconds < 50 else {
      #expect(families(await waiting.value) == [.ipv6])
      return await four.land(good4)
    }
    await four.land(good4)
    #expect(families(await waiting.value) == [.ipv4, .ipv6])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `IPv6 goes at once to who connects`() async {
    let (four, six) = (Runway(), Runway())
    let waiting = wait([(.ipv6, six), (.ipv4, four)])
    await six.land(good6)
    #expect(families(await waiting.value) == [.ipv6])
    #expect(clock.sleeperCount == 0)
    await four.land(good4)
  }

  @Test(arguments: [true, false])
  func `a family that failed or has nothing waits for the other`(_ fails: Bool) async {
    let (four, six) = (Runway(), Runway())
    let waiting = wait([(.ipv6, six), (.ipv4, four)])
    await six.land(fails ? failed : empty)
    await four.land(good4)
    let result = await waiting.value
    #expect(families(result) == [.ipv4, .ipv6])
    #expect(result.outcomes[.ipv4]?.hasAddresses == true)
    #expect(result.outcomes[.ipv6]?.hasAddresses == false)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `both without addresses end the wait`() async {
    let (four, six) = (Runway(), Runway())
    let waiting = wait([(.ipv6, six), (.ipv4, four)])
    await four.land(empty)
    await six.land(failed)
    #expect(families(await waiting.value) == [.ipv4, .ipv6])
  }

  @Test func `the deadline ends the wait with what there is`() async {
    let (four, six) = (Runway(), Runway())
    let waiting = wait([(.ipv6, six), (.ipv4, four)], until: Sample.at(1))
    await six.land(failed)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    let result = await waiting.value
    #expect(families(result) == [.ipv6])
    #expect(!result.isCancelled)
    await four.land(good4)
  }

  @Test func `a deadline that has passed does not wait, and takes what is there already`() async {
    let (four, six) = (Runway(), Runway())
    await four.land(good4)
    let result = await wait([(.ipv6, six), (.ipv4, four)], until: Sample.at(0)).value
    #expect(families(result) == [.ipv4])
    await six.land(good6)
  }

  @Test func `without flights there is nothing to wait for`() async {
    let result = await wait([], until: nil).value
    #expect(result.outcomes.isEmpty)
    #expect(!result.isCancelled)
  }

  @Test func `flights that have landed are not waited for`() async {
    let four = Runway()
    await four.land(good4)
    #expect(families(await wait([(.ipv4, four)]).value) == [.ipv4])
  }

  @Test func `a cancelled caller leaves, and the flight goes on`() async {
    let four = Runway()
    let leaver = wait([(.ipv4, four)], until: Sample.at(9))
    let stayer = wait([(.ipv4, four)])
    leaver.cancel()
    let result = await leaver.value
    #expect(result.isCancelled)
    #expect(result.outcomes.isEmpty)
    await four.land(good4)
    #expect(families(await stayer.value) == [.ipv4])
  }

  @Test func `a caller who was cancelled before leaves too`() async {
    let four = Runway()
    let task = Task { [clock] in
      // Ends when the task is cancelled.
      await Watched(false).wait { $0 }
      return await FlightWait(.ipv4, for: .handingOut, clock: clock).run([(.ipv4, four.flight)], until: nil)
    }
    task.cancel()
    #expect(await task.value.isCancelled)
    await four.land(good4)
  }

  @Test func `a wait that is over leaves no timer behind`() async {
    let four = Runway()
    let waiting = wait([(.ipv4, four)], until: Sample.at(100))
    await clock.waitForSleepers()
    await four.land(good4)
    _ = await waiting.value
    #expect(clock.sleeperCount == 0)
  }
}
