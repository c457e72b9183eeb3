// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AddressOrderTests {
  private let a = Sample.address("192.0.2.1")
  private let b = Sample.address("192.0.2.2")
  private let c = Sample.address("192.0.2.3")

  private func record(_ outcomes: ConnectionOutcome...) -> AddressRecord {
    var record = AddressRecord()
    for outcome in outcomes { record.note(outcome, at: Sample.at(0)) }
    return record
  }

  private func time(_ record: AddressRecord, at seconds: Double = 0) -> Duration? {
    record.connectTime(at: Sample.at(seconds))
  }

  /// One that has failed so often, each time when it had just been forgiven, the last time at 0 s.
  private func failed(_ times: Int) -> AddressRecord {
    var record = AddressRecord()
    for round in 1...times { record.note(.failed, at: Sample.at(-600 * Double(times - round))) }
    return record
  }

  private func connected(_ milliseconds: Int) -> AddressRecord {
    record(.connected(in: .milliseconds(milliseconds)))
  }

  /// Sixty turns, which two, three, four and five addresses take equally often.
  private static let turns = (0..<60).map { AddressOrder.Turn(number: ($0 << 32 + 59) / 60) }

  private func whole(
    _ addresses: [IPAddress], _ records: [IPAddress: AddressRecord], at seconds: Double = 0
  ) -> AddressOrder {
    AddressOrder(addresses, { records[$0] }, at: Sample.at(seconds))
  }

  private func order(
    _ addresses: [IPAddress], _ records: [IPAddress: AddressRecord], turn: AddressOrder.Turn = .first,
    at seconds: Double = 0
  ) -> [IPAddress] {
    whole(addresses, records, at: seconds).turned(by: turn)
  }

  // MARK: One record

  @Test func `connect times are smoothed by eighths`() {
    #expect(time(record(.connected(in: .milliseconds(80)))) == .milliseconds(80))
    #expect(
      time(record(.connected(in: .milliseconds(80)), .connected(in: .milliseconds(160)))) == .milliseconds(90))
  }

  @Test(arguments: [
    ConnectionOutcome.connected(in: .milliseconds(8)), .slower(than: .milliseconds(8)),
  ])
  func `a connect time counts for five minutes, and is not mixed with a later one`(_ next: ConnectionOutcome) {
    var lost = record(.slower(than: .milliseconds(260)))
    #expect(time(lost, at: 299.9) == .milliseconds(260) && time(lost, at: 300) == nil)
    lost.note(next, at: Sample.at(300))
    #expect(time(lost, at: 300) == .milliseconds(8))
  }

  @Test func `a connect time that was forgotten does not come back with a failure`() {
    var lost = record(.slower(than: .milliseconds(260)))
    lost.note(.failed, at: Sample.at(400))
    #expect(time(lost, at: 401) == nil)
  }

  @Test func `one slow moment does not keep an address unused for ever`() {
    let records = [a: record(.slower(than: .milliseconds(260))), b: connected(1)]
    let before = whole([a, b], records, at: 299)
    #expect(before.addresses == [b, a] && before.equals == 1 && before.changesAt == Sample.at(300))
    #expect(Set(Self.turns.map { order([a, b], records, turn: $0, at: 300)[0] }) == [a, b])
  }

  @Test(arguments: [(1, 30), (2, 60), (3, 120), (4, 240), (5, 480), (6, 600), (7, 600), (100, 600)])
  func `a failed address is pushed back for 30 s, doubling to 10 min`(_ failures: Int, _ seconds: Int) {
    #expect(failed(failures).pushedBackUntil == Sample.at(Double(seconds)))
  }

  @Test func `of failures at the same time the first one counts`() {
    var record = AddressRecord()
    for second in 0..<30 { record.note(.failed, at: Sample.at(Double(second))) }
    #expect(record.pushedBackUntil == Sample.at(30) && record.failuresInARow == 1)
    record.note(.failed, at: Sample.at(30))
    #expect(record.pushedBackUntil == Sample.at(90) && record.failuresInARow == 2)
  }

  @Test func `a connection forgives all failures`() {
    var record = failed(3)
    record.note(.connected(in: .milliseconds(10)), at: Sample.at(1))
    #expect(record.pushedBackUntil == nil)
    record.note(.failed, at: Sample.at(2))
    #expect(record.pushedBackUntil == Sample.at(32))
  }

  @Test func `an address that lost a race is at least that slow, and no failure`() {
    let lost = record(.slower(than: .milliseconds(260)))
    #expect(time(lost) == .milliseconds(260) && lost.pushedBackUntil == nil)
    #expect(
      time(record(.connected(in: .milliseconds(400)), .slower(than: .milliseconds(260)))) == .milliseconds(400))
    for turn in Self.turns { #expect(order([a, b], [a: lost, b: connected(1)], turn: turn) == [b, a]) }
  }

  // MARK: The order of one family

  @Test func `the fastest address comes first when the others are clearly slower`() {
    let records = [a: connected(500), b: connected(20), c: connected(100)]
    for turn in Self.turns { #expect(order([a, b, c], records, turn: turn) == [b, c, a]) }
  }

  @Test(arguments: [
    (20, 50, true), (20, 51, false), (200, 250, true), (200, 251, false), (120, 150, true), (1, 31, true),
  ])
  func `addresses within 30 ms or 25 % of the best are a tie`(_ best: Int, _ other: Int, _ isTie: Bool) {
    let records = [a: connected(best), b: connected(other)]
    let orders = Set(Self.turns.map { order([a, b], records, turn: $0) })
    #expect(orders == (isTie ? [[a, b], [b, a]] : [[a, b]]))
  }

  @Test func `those in a tie take turns, each as often as the others`() {
    var firsts: [IPAddress: Int] = [:]
    for turn in Self.turns {
      let ordered = order([a, b, c], [:], turn: turn)
      #expect(Set(ordered) == [a, b, c])
      firsts[ordered[0], default: 0] += 1
    }
    #expect(firsts == [a: 20, b: 20, c: 20])
  }

  @Test func `an address that nobody has tried is as good as the best`() {
    let records = [a: connected(20), c: connected(300)]
    #expect(Set(Self.turns.map { order([a, b, c], records, turn: $0) }) == [[a, b, c], [b, a, c]])
  }

  @Test func `a failed address goes last for its time, and then takes its place again`() {
    let records = [a: record(.failed)]
    for turn in Self.turns {
      #expect(order([a, b, c], records, turn: turn, at: 29.9).last == a)
    }
    #expect(Set(Self.turns.map { order([a, b, c], records, turn: $0, at: 30)[0] }) == [a, b, c])
  }

  @Test func `a fast address that failed goes behind a slow one that did not`() {
    let records = [a: record(.connected(in: .milliseconds(1)), .failed), b: connected(2000)]
    #expect(order([a, b], records, at: 1) == [b, a])
  }

  @Test
  func
    `failed addresses are used when nothing better is left, the one that is forgiven first before the others`()
  {
    let records = [a: failed(3), b: failed(1), c: failed(2)]
    #expect(order([a, b, c], records, at: 1) == [b, c, a])
  }

  @Test func `no address is lost or made up`() {
    var random = SeededGenerator(seed: 8)
    for _ in 0..<300 {
      let addresses = (0..<Int.random(in: 0...20, using: &random)).map { IPAddress.ipv4(UInt32($0)) }
      var records: [IPAddress: AddressRecord] = [:]
      for address in addresses where Bool.random(using: &random) {
        records[address] =
          Bool.random(using: &random) ? record(.failed) : connected(Int.random(in: 1...900, using: &random))
      }
      let ordered = order(
        addresses, records, turn: AddressOrder.Turn(number: random.next() >> 32),
        at: Double.random(in: 0...60, using: &random))
      #expect(ordered.sorted() == addresses)
    }
  }

  @Test func `an order tells how many of the first take turns, and when it changes by itself`() {
    let records = [a: failed(2), b: connected(20), c: failed(1)]
    let order = whole([a, b, c, Sample.address("192.0.2.4")], records, at: 10)
    #expect(order.addresses == [b, Sample.address("192.0.2.4"), c, a])
    #expect(order.equals == 2)
    #expect(order.changesAt == Sample.at(30))
    let later = whole([a, b, c], records, at: 30)
    #expect(later.addresses == [b, c, a] && later.equals == 2 && later.changesAt == Sample.at(60))
    let last = whole([a, b, c], records, at: 60)
    #expect(last.addresses == [a, b, c] && last.equals == 3 && last.changesAt == Sample.at(300))
    #expect(whole([a, b, c], records, at: 300).changesAt == nil)
  }

  // MARK: The order of two families

  @Test(
    arguments: [
      // One address of each, its connect time in milliseconds; nil for one that nobody has tried.
      ([260], [5], true), ([204], [5], false), ([205], [5], true), ([260], [nil], false), ([nil], [5], false),
      ([260, nil], [5], false), ([260, 300], [5, nil], true), ([260, 20], [5], false), ([260], [100], false),
      ([5], [260], false), ([260], [], false),
    ] as [([Int?], [Int?], Bool)])
  func `a family whose every address lost a race to the other goes behind it, for as long as that is known`(
    _ first: [Int?], _ second: [Int?], _ isBehind: Bool
  ) {
    func order(_ times: [Int?], from start: UInt32, at seconds: Double) -> AddressOrder {
      let addresses = times.indices.map { IPAddress.ipv4(start + UInt32($0)) }
      let records = zip(addresses, times).map { address, time in (address, time.map(connected) ?? AddressRecord()) }
      return whole(addresses, Dictionary(uniqueKeysWithValues: records), at: seconds)
    }
    for (seconds, expected) in [(299.0, isBehind), (300, false)] {
      #expect(order(first, from: 0, at: seconds).isBehind(order(second, from: 100, at: seconds)) == expected)
    }
  }

  @Test func `the first turn is the server's order`() {
    #expect(order([c, a, b], [:]) == [c, a, b])
    #expect((0..<9).map { AddressOrder.Turn.first.place($0, of: 5) } == Array(0..<9))
  }

  @Test(arguments: 0...9)
  func `a turn moves those that take turns and no others, each to a place of its own`(_ equals: Int) {
    for turn in Self.turns + [AddressOrder.Turn(number: 0xffff_ffff)] {
      let places = (0..<9).map { turn.place($0, of: equals) }
      #expect(places.sorted() == Array(0..<9))
      #expect(Array(places.dropFirst(equals)) == Array((0..<9).dropFirst(equals)))
    }
  }
}
