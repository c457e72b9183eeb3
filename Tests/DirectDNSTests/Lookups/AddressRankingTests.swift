import Testing

@testable import DirectDNS

struct AddressRankingTests {
  private let a = Sample.address("192.0.2.1")
  private let b = Sample.address("192.0.2.2")
  private let c = Sample.address("192.0.2.3")

  private func record(_ outcomes: ConnectionOutcome..., at seconds: Double = 0) -> AddressRecord {
    var record = AddressRecord()
    for outcome in outcomes { record.note(outcome, at: Sample.at(seconds)) }
    return record
  }

  private func connected(_ milliseconds: Int) -> AddressRecord {
    record(.connected(in: .milliseconds(milliseconds)))
  }

  private func order(
    _ addresses: [IPAddress], _ records: [IPAddress: AddressRecord], turn: UInt64 = 0, at seconds: Double = 0
  ) -> [IPAddress] {
    AddressRecord.order(addresses, records, turn: turn, at: Sample.at(seconds))
  }

  // MARK: One record

  @Test func `connect times are smoothed by eighths`() {
    #expect(record(.connected(in: .milliseconds(80))).connectTime == .milliseconds(80))
    #expect(
      record(.connected(in: .milliseconds(80)), .connected(in: .milliseconds(160))).connectTime
        == .milliseconds(90))
  }

  @Test(arguments: [(1, 30), (2, 60), (3, 120), (4, 240), (5, 480), (6, 600), (7, 600), (100, 600)])
  func `a failed address is pushed back for 30 s, doubling to 10 min`(_ failures: Int, _ seconds: Int) {
    var record = AddressRecord()
    for _ in 0..<failures { record.note(.failed, at: Sample.at(5)) }
    #expect(record.pushedBackUntil == Sample.at(5) + .seconds(seconds))
  }

  @Test func `a connection forgives all failures`() {
    var record = record(.failed, .failed, .failed)
    record.note(.connected(in: .milliseconds(10)), at: Sample.at(1))
    #expect(record.pushedBackUntil == nil)
    record.note(.failed, at: Sample.at(2))
    #expect(record.pushedBackUntil == Sample.at(32))
  }

  @Test func `an address that lost a race is at least that slow, and no failure`() {
    let lost = record(.slower(than: .milliseconds(260)))
    #expect(lost.connectTime == .milliseconds(260) && lost.pushedBackUntil == nil)
    #expect(
      record(.connected(in: .milliseconds(400)), .slower(than: .milliseconds(260))).connectTime == .milliseconds(400))
    for turn in 0..<4 as Range<UInt64> { #expect(order([a, b], [a: lost, b: connected(1)], turn: turn) == [b, a]) }
  }

  // MARK: The order of one family

  @Test func `the fastest address comes first when the others are clearly slower`() {
    let records = [a: connected(500), b: connected(20), c: connected(100)]
    for turn in 0..<9 as Range<UInt64> { #expect(order([a, b, c], records, turn: turn) == [b, c, a]) }
  }

  @Test(arguments: [
    (20, 50, true), (20, 51, false), (200, 250, true), (200, 251, false), (120, 150, true), (1, 31, true),
  ])
  func `addresses within 30 ms or 25 % of the best are a tie`(_ best: Int, _ other: Int, _ isTie: Bool) {
    let records = [a: connected(best), b: connected(other)]
    let orders = Set((0..<8).map { order([a, b], records, turn: $0) })
    #expect(orders == (isTie ? [[a, b], [b, a]] : [[a, b]]))
  }

  @Test func `those in a tie take turns, each as often as the others`() {
    var firsts: [IPAddress: Int] = [:]
    for turn in 0..<30 as Range<UInt64> {
      let ordered = order([a, b, c], [:], turn: turn)
      #expect(Set(ordered) == [a, b, c])
      firsts[ordered[0], default: 0] += 1
    }
    #expect(firsts == [a: 10, b: 10, c: 10])
  }

  @Test func `an address that nobody has tried is as good as the best`() {
    let records = [a: connected(20), c: connected(300)]
    #expect(Set((0..<8).map { order([a, b, c], records, turn: $0) }) == [[a, b, c], [b, a, c]])
  }

  @Test func `a failed address goes last for its time, and then takes its place again`() {
    let records = [a: record(.failed)]
    for turn in 0..<6 as Range<UInt64> {
      #expect(order([a, b, c], records, turn: turn, at: 29.9).last == a)
    }
    #expect(Set((0..<6).map { order([a, b, c], records, turn: $0, at: 30)[0] }) == [a, b, c])
  }

  @Test func `a fast address that failed goes behind a slow one that did not`() {
    let records = [a: record(.connected(in: .milliseconds(1)), .failed), b: connected(2000)]
    #expect(order([a, b], records, at: 1) == [b, a])
  }

  @Test
  func
    `failed addresses are used when nothing better is left, the one that is forgiven first before the others`()
  {
    let records = [a: record(.failed, .failed, .failed), b: record(.failed), c: record(.failed, .failed)]
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
        addresses, records, turn: random.next(), at: Double.random(in: 0...60, using: &random))
      #expect(ordered.sorted() == addresses)
    }
  }

  // MARK: The ranking

  @Test func `the preferred family stays first, whatever is known of its addresses`() {
    let ranking = AddressRanking()
    let first = Sample.addresses("2001:db8::1", "2001:db8::2")
    ranking.report(first[0], .failed, at: Sample.at(0))
    ranking.report(a, .connected(in: .milliseconds(1)), at: Sample.at(0))
    var addresses = AddressList(first + [a, b])
    ranking.order(&addresses, firstCount: 2, at: Sample.at(1))
    #expect(Array(addresses.prefix(2)) == [first[1], first[0]])
    #expect(Set(addresses.dropFirst(2)) == [a, b])
  }

  @Test func `turns change with time, so that a fleet spreads over all addresses`() {
    let ranking = AddressRanking()
    var firsts: [IPAddress: Int] = [:]
    for step in 0..<300 {
      var addresses = AddressList([a, b, c])
      ranking.order(&addresses, firstCount: 3, at: Sample.at(Double(step)))
      firsts[addresses[0], default: 0] += 1
    }
    #expect(firsts.count == 3)
    for count in firsts.values { #expect(count > 50) }
  }

  @Test func `without turns those in a tie keep their order, and a failed one goes last all the same`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    for step in 0..<20 {
      var addresses = AddressList([a, b, c])
      ranking.order(&addresses, firstCount: 3, takesTurns: false, at: Sample.at(Double(step)))
      #expect(addresses == [b, c, a])
    }
  }

  @Test func `a single address is left alone`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    var addresses: AddressList = [a]
    ranking.order(&addresses, firstCount: 1, at: Sample.at(0))
    #expect(addresses == [a])
  }

  @Test func `a change of network forgets what was reported`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    ranking.networkDidChange()
    let firsts = (0..<100).map { step in
      var addresses = AddressList([a, b])
      ranking.order(&addresses, firstCount: 2, at: Sample.at(Double(step) * 0.01))
      return addresses[0]
    }
    #expect(firsts.contains(a))
  }

  @Test func `many addresses are remembered, and the one unheard of for longest goes`() {
    let ranking = AddressRanking()
    ranking.report(a, .failed, at: Sample.at(0))
    ranking.report(b, .failed, at: Sample.at(1))
    for number in 0..<AddressRanking.capacity - 1 {
      ranking.report(.ipv4(0x0A00_0000 + UInt32(number)), .connected(in: .milliseconds(1)), at: Sample.at(2))
    }
    var addresses: AddressList = [a, b]
    ranking.order(&addresses, firstCount: 2, at: Sample.at(3))
    // Only of the second one it is still known that it failed.
    #expect(addresses == [a, b])
  }
}
