// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ConnectionRaceTests {
  private let v6 = ["2001:db8:1::1", "2001:db8:1::2"].compactMap { IPAddress($0) }
  private let v4 = ["192.0.2.1", "192.0.2.2"].compactMap { IPAddress($0) }

  private func expect(
    _ step: ConnectionRace.Step, _ expected: ConnectionRace.Step, at place: SourceLocation = #_sourceLocation
  ) {
    #expect(step == expected, sourceLocation: place)
  }

  @Test func `the families take turns, beginning with the first address's`() {
    #expect(ConnectionRace.interleaved(v6 + v4) == [v6[0], v4[0], v6[1], v4[1]])
    #expect(ConnectionRace.interleaved(v4 + v6) == [v4[0], v6[0], v4[1], v6[1]])
    #expect(ConnectionRace.interleaved([v4[0], v6[0], v6[1]]) == [v4[0], v6[0], v6[1]])
    #expect(ConnectionRace.interleaved(v4) == v4)
  }

  @Test func `the next attempt starts after the delay, and not before`() {
    var race = ConnectionRace(v4, delay: 250)
    expect(race.step(at: 1_000), .start(v4[0], attempt: 0))
    expect(race.step(at: 1_000), .wait(until: 1_250))
    #expect(race.nextStart == 1_250)
    expect(race.step(at: 1_249), .wait(until: 1_250))
    expect(race.step(at: 1_250), .start(v4[1], attempt: 1))
    expect(race.step(at: 9_000), .rest)
    #expect(race.nextStart == nil)
  }

  @Test func `a failure starts the next attempt at once`() {
    var race = ConnectionRace(v4, delay: 250)
    _ = race.step(at: 0)
    race.failed(0)
    expect(race.step(at: 3), .start(v4[1], attempt: 1))
    race.failed(1)
    expect(race.step(at: 4), .lost)
  }

  @Test func `the other family may be there before anything has started`() {
    var race = ConnectionRace([v4[0]], delay: 250, hasOthers: true)
    race.add([v6[0]])
    expect(race.step(at: 0), .start(v4[0], attempt: 0))
    expect(race.step(at: 250), .start(v6[0], attempt: 1))
  }

  @Test func `what has not started cannot fail`() {
    var race = ConnectionRace(v4, delay: 250)
    race.failed(0)
    expect(race.step(at: 0), .start(v4[0], attempt: 0))
    race.failed(1)
    expect(race.step(at: 1), .wait(until: 250))
  }

  @Test func `a late failure of an early attempt starts the next one too`() {
    var race = ConnectionRace(v6 + v4, delay: 250)
    _ = race.step(at: 0)
    _ = race.step(at: 250)
    race.failed(0)
    expect(race.step(at: 260), .start(v4[0], attempt: 2))
    expect(race.step(at: 260), .wait(until: 510))
  }

  @Test func `who is established first wins, and nobody starts after`() {
    var race = ConnectionRace(v6 + v4, delay: 250)
    _ = race.step(at: 0)
    _ = race.step(at: 250)
    let results = [1, 0, 1].map { race.connected($0) }
    #expect(results == [true, false, true] && race.winner == 1)
    expect(race.step(at: 10_000), .rest)
  }

  @Test func `the race is lost when the last attempt has failed, and not while one runs`() {
    var race = ConnectionRace(v4, delay: 250)
    _ = race.step(at: 0)
    _ = race.step(at: 250)
    race.failed(1)
    expect(race.step(at: 300), .rest)
    race.failed(0)
    race.failed(0)
    expect(race.step(at: 301), .lost)
  }

  @Test func `one address is tried once`() {
    var race = ConnectionRace([v4[0]], delay: 250)
    expect(race.step(at: 0), .start(v4[0], attempt: 0))
    expect(race.step(at: 1_000), .rest)
  }

  // MARK: The other family

  @Test func `the other family is asked for before the second attempt, and the families take turns`() {
    var race = ConnectionRace(v6, delay: 250, hasOthers: true)
    expect(race.step(at: 0), .start(v6[0], attempt: 0))
    expect(race.step(at: 0), .wait(until: 250))
    expect(race.step(at: 250), .ask)
    race.add(v4)
    expect(race.step(at: 250), .start(v4[0], attempt: 1))
    expect(race.step(at: 500), .start(v6[1], attempt: 2))
    expect(race.step(at: 750), .start(v4[1], attempt: 3))
  }

  @Test func `nothing waits for the other family while there are addresses`() {
    var race = ConnectionRace(v6, delay: 250, hasOthers: true)
    _ = race.step(at: 0)
    race.failed(0)
    expect(race.step(at: 1), .ask)
    expect(race.step(at: 1), .start(v6[1], attempt: 1))
    race.add(v4)
    expect(race.step(at: 2), .wait(until: 251))
    race.failed(1)
    expect(race.step(at: 3), .start(v4[0], attempt: 2))
  }

  @Test func `a race is asked for when its only attempt is silent, too`() {
    var race = ConnectionRace([v6[0]], delay: 250, hasOthers: true)
    _ = race.step(at: 0)
    #expect(race.nextStart == 250)
    expect(race.step(at: 250), .ask)
    expect(race.step(at: 250), .rest)
    #expect(race.nextStart == nil)
    race.add([v4[0]])
    expect(race.step(at: 900), .start(v4[0], attempt: 1))
  }

  @Test func `a race is not lost before the other family is in`() {
    var race = ConnectionRace([v6[0]], delay: 250, hasOthers: true)
    _ = race.step(at: 0)
    race.failed(0)
    expect(race.step(at: 1), .ask)
    expect(race.step(at: 4_000), .rest)
    race.add([])
    expect(race.step(at: 4_000), .lost)
  }

  @Test func `addresses that come when all others have failed start at once`() {
    var race = ConnectionRace([v6[0]], delay: 250, hasOthers: true)
    _ = race.step(at: 0)
    race.failed(0)
    _ = race.step(at: 1)
    race.add(v4)
    expect(race.step(at: 60), .start(v4[0], attempt: 1))
    expect(race.step(at: 60), .wait(until: 310))
  }

  @Test func `an address is tried once, however often it is named`() {
    var race = ConnectionRace([v4[0]], delay: 250, hasOthers: true)
    _ = race.step(at: 0)
    race.failed(0)
    _ = race.step(at: 1)
    race.add([v4[0]])
    expect(race.step(at: 1), .lost)
  }

  @Test func `a race that is won asks for nothing`() {
    var race = ConnectionRace([v4[0]], delay: 250, hasOthers: true)
    _ = race.step(at: 0)
    _ = race.connected(0)
    #expect(race.nextStart == nil)
    expect(race.step(at: 250), .rest)
    race.add(v6)
    expect(race.step(at: 500), .rest)
  }
}
