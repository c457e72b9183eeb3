import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct SingleFlightTests {
  /// Work that ends when the test says so, and counts how often it began.
  private final class Work: Sendable {
    private let begun = Watched(0)
    private let isOpen = Watched(false)

    var count: Int { begun.value }
    func finish() { isOpen.change { $0 = true } }

    func run(_ value: Int) async -> Int {
      begun.change { $0 += 1 }
      await isOpen.wait { $0 }
      return value
    }
  }

  private func value(_ flight: Flight<Int>) async -> Int {
    await withCheckedContinuation { continuation in flight.observe { continuation.resume(returning: $0) } }
  }

  @Test func `many who want the same wait for one`() async {
    let flights = SingleFlight<String, Int>()
    let work = Work()
    let joined = (0..<50).map { number in flights.flight("a") { await work.run(number) } }
    #expect(flights.count == 1)
    #expect(flights.isFlying("a"))
    work.finish()
    for flight in joined { #expect(await value(flight) == 0) }
    #expect(work.count == 1)
  }

  @Test func `different keys never wait for one another`() async {
    let flights = SingleFlight<String, Int>()
    let work = Work()
    let slow = flights.flight("slow") { await work.run(1) }
    #expect(await value(flights.flight("quick") { 2 }) == 2)
    #expect(flights.isFlying("slow"))
    #expect(!flights.isFlying("quick"))
    work.finish()
    #expect(await value(slow) == 1)
  }

  @Test func `the next one after the landing flies anew`() async {
    let flights = SingleFlight<String, Int>()
    #expect(await value(flights.flight("a") { 1 }) == 1)
    #expect(await value(flights.flight("a") { 2 }) == 2)
    #expect(flights.count == 0)
  }

  @Test func `whoever hears the result can start the next flight at once`() async {
    let flights = SingleFlight<String, Int>()
    let work = Work()
    let first = flights.flight("a") { await work.run(1) }
    let second: Int = await withCheckedContinuation { continuation in
      first.observe { _ in
        flights.flight("a") { 2 }.observe { continuation.resume(returning: $0) }
      }
      work.finish()
    }
    #expect(second == 2)
  }

  @Test func `a result is heard by those who come late`() async {
    let flights = SingleFlight<String, Int>()
    let flight = flights.flight("a") { 7 }
    #expect(await value(flight) == 7)
    #expect(await value(flight) == 7)
  }

  @Test func `a flight goes on when all who waited were cancelled`() async {
    let flights = SingleFlight<String, Int>()
    let work = Work()
    let waiter = Task.immediate { flights.flight("a") { await work.run(3) } }
    waiter.cancel()
    let flight = await waiter.value
    #expect(flights.isFlying("a"))
    work.finish()
    #expect(await value(flight) == 3)
  }

  @Test func `work begins on the caller's own thread, before the call returns`() {
    let flights = SingleFlight<String, Int>()
    let work = Work()
    _ = flights.flight("a") { await work.run(1) }
    #expect(work.count == 1)
    work.finish()
  }
}
