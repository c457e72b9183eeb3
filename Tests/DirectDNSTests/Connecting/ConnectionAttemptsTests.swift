import Testing

@testable import DirectDNS

struct ConnectionAttemptsTests {
  private let v6 = ["2001:db8:1::1", "2001:db8:1::2"].compactMap { IPAddress($0) }
  private let v4 = ["192.0.2.1", "192.0.2.2"].compactMap { IPAddress($0) }

  private func expect(
    _ step: ConnectionAttempts.Step, _ expected: ConnectionAttempts.Step, at place: SourceLocation = #_sourceLocation
  ) {
    #expect(step == expected, sourceLocation: place)
  }

  @Test func `the families take turns, beginning with the first address's`() {
    #expect(ConnectionAttempts.interleaved(v6 + v4) == [v6[0], v4[0], v6[1], v4[1]])
    #expect(ConnectionAttempts.interleaved(v4 + v6) == [v4[0], v6[0], v4[1], v6[1]])
    #expect(ConnectionAttempts.interleaved([v4[0], v6[0], v6[1]]) == [v4[0], v6[0], v6[1]])
    #expect(ConnectionAttempts.interleaved(v4) == v4)
  }

  @Test func `the next attempt starts after the delay, and not before`() {
    var race = ConnectionAttempts(v4, delay: 250)
    expect(race.step(at: 1_000), .start(v4[0], attempt: 0))
    expect(race.step(at: 1_000), .wait(until: 1_250))
    #expect(race.nextStart == 1_250)
    expect(race.step(at: 1_249), .wait(until: 1_250))
    expect(race.step(at: 1_250), .start(v4[1], attempt: 1))
    expect(race.step(at: 9_000), .rest)
    #expect(race.nextStart == nil)
  }

  @Test func `a failure starts the next attempt at once`() {
    var race = ConnectionAttempts(v4, delay: 250)
    _ = race.step(at: 0)
    race.failed(0)
    expect(race.step(at: 3), .start(v4[1], attempt: 1))
    race.failed(1)
    expect(race.step(at: 4), .lost)
  }

  @Test func `a late failure of an early attempt starts the next one too`() {
    var race = ConnectionAttempts(v6 + v4, delay: 250)
    _ = race.step(at: 0)
    _ = race.step(at: 250)
    race.failed(0)
    expect(race.step(at: 260), .start(v4[0], attempt: 2))
    expect(race.step(at: 260), .wait(until: 510))
  }

  @Test func `who stands first wins, and nobody starts after`() {
    var race = ConnectionAttempts(v6 + v4, delay: 250)
    _ = race.step(at: 0)
    _ = race.step(at: 250)
    let results = [1, 0, 1].map { race.connected($0) }
    #expect(results == [true, false, true] && race.winner == 1)
    expect(race.step(at: 10_000), .rest)
  }

  @Test func `the race is lost when the last attempt has failed, and not while one runs`() {
    var race = ConnectionAttempts(v4, delay: 250)
    _ = race.step(at: 0)
    _ = race.step(at: 250)
    race.failed(1)
    expect(race.step(at: 300), .rest)
    race.failed(0)
    race.failed(0)
    expect(race.step(at: 301), .lost)
  }

  @Test func `one address is tried once`() {
    var race = ConnectionAttempts([v4[0]], delay: 250)
    expect(race.step(at: 0), .start(v4[0], attempt: 0))
    expect(race.step(at: 1_000), .rest)
  }
}
