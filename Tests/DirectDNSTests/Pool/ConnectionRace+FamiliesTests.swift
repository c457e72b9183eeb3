// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// A lookup and the race that draws its addresses, in moved time: every order and delay of the two answers.
struct ConnectionRaceFamiliesTests {
  /// What becomes of a family.
  enum Reach: String, CaseIterable, Sendable {
    case fine, refused, silent, noRoute
    /// The name has no such address.
    case missing
  }

  private struct Case {
    /// When the answers come, in milliseconds.
    var answers: [IPAddress.Family: Int64]
    var reach: [IPAddress.Family: Reach]
    var preferred: IPAddress.Family
    /// How long a connection takes: with TLS longer than without.
    var handshake: Int64
  }

  private enum End: Equatable {
    case connected(IPAddress.Family, at: Int64)
    case lost(at: Int64)
    case timedOut
    case noAddress
  }

  private static let delays: [Int64] = [0, 5, 30, 60, 100, 200, 1000]
  private static let attemptDelay: Int64 = 250
  private static let connectTimeout: Int64 = 5000

  @Test(arguments: Reach.allCases, Reach.allCases)
  func `whatever comes when, the first way that works is taken, and nothing else is lost`(
    _ ipv6: Reach, _ ipv4: Reach
  ) {
    for delay6 in Self.delays {
      for delay4 in Self.delays {
        for preferred in IPAddress.Family.allCases {
          for handshake in [10, 40] as [Int64] {
            let race = Case(
              answers: [.ipv6: delay6, .ipv4: delay4], reach: [.ipv6: ipv6, .ipv4: ipv4], preferred: preferred,
              handshake: handshake)
            #expect(run(race) == expected(race), "\(race)")
          }
        }
      }
    }
  }

  // MARK: By the rules

  /// What RFC 8305 and the specification say, in closed form.
  private func expected(_ race: Case) -> End {
    func time(_ family: IPAddress.Family) -> Int64 { race.answers[family] ?? 0 }
    func has(_ family: IPAddress.Family) -> Bool { race.reach[family] != .missing }
    let (preferred, other) = (race.preferred, race.preferred.other)
    let begin: Int64
    switch (has(preferred), has(other)) {
    case (false, false): return .noAddress
    case (true, _) where time(preferred) <= time(other): begin = time(preferred)
    case (true, true), (false, true): begin = max(time(other), min(time(preferred), time(other) + 50))
    case (true, false): begin = time(preferred)
    }
    let first = has(preferred) && time(preferred) <= begin ? preferred : other
    let second = first.other
    // When the second family's turn is, as soon as it is in.
    let turn: Int64
    switch race.reach[first] {
    case .refused: turn = begin + 1
    case .noRoute: turn = begin
    case .silent: turn = begin + Self.attemptDelay
    default: return .connected(first, at: begin + race.handshake)
    }
    let start = max(turn, time(second))
    switch race.reach[second] {
    case .fine: return .connected(second, at: start + race.handshake)
    case _ where race.reach[first] == .silent: return .timedOut
    case .silent: return .timedOut
    case .refused: return .lost(at: start + 1)
    default: return .lost(at: start)
    }
  }

  // MARK: By the code

  private func run(_ race: Case) -> End {
    let never = ResolverInstant(nanoseconds: .max)
    var lookup = FamilyWait(.any, for: .connecting, preferred: race.preferred, until: never)
    var begin = Int64.max
    var addresses: [IPAddress.Family: [IPAddress]] = [:]
    for (family, time) in race.answers.sorted(by: {
      ($0.value, $0.key == .ipv4 ? 1 : 0) < ($1.value, $1.key == .ipv4 ? 1 : 0)
    })
    where time <= begin {
      let found = race.reach[family] == .missing ? [] : [Self.address[family]].compactMap(\.self)
      addresses[family] = found
      let answer = Answer(found.isEmpty ? .negative(.noAddress) : .addresses(found), ttl: 60)
      lookup.note(
        family, .answered(answer, .provider("one"), Sample.life(0, 60)),
        at: ResolverInstant(nanoseconds: time * 1_000_000))
      if lookup.isOver { begin = time } else if lookup.end < never { begin = lookup.end.nanoseconds / 1_000_000 }
    }
    let known = (addresses[race.preferred] ?? []) + (addresses[race.preferred.other] ?? [])
    guard !known.isEmpty else { return .noAddress }
    return connect(race, known, from: begin)
  }

  private static let address: [IPAddress.Family: IPAddress] = [
    .ipv4: Sample.address("192.0.2.1"), .ipv6: Sample.address("2001:db8::1"),
  ]

  private enum Event { case failed(Int), established(Int), joins([IPAddress]) }

  private func connect(_ race: Case, _ known: [IPAddress], from begin: Int64) -> End {
    var attempts = ConnectionRace(
      ConnectionRace.interleaved(known), delay: Self.attemptDelay, hasOthers: known.count < 2)
    let missing: IPAddress.Family = known[0].family.other
    let others = race.reach[missing] == .missing ? [] : [Self.address[missing]].compactMap(\.self)
    var events: [(at: Int64, event: Event)] = []
    var families: [IPAddress.Family] = []
    var now = begin
    while now <= begin + Self.connectTimeout {
      var isStepping = true
      while isStepping {
        switch attempts.step(at: now) {
        case .start(let address, let number):
          families.append(address.family)
          switch race.reach[address.family] {
          case .fine: events.append((now + race.handshake, .established(number)))
          case .refused: events.append((now + 1, .failed(number)))
          case .noRoute: events.append((now, .failed(number)))
          default: break
          }
        case .ask: events.append((max(now, race.answers[missing] ?? 0), .joins(others)))
        case .lost: return .lost(at: now)
        case .wait, .rest: isStepping = false
        }
        // What is known is there at once.
        while let index = events.firstIndex(where: { $0.at <= now }) {
          isStepping = true
          switch events.remove(at: index).event {
          case .failed(let number): attempts.failed(number)
          case .joins(let addresses): attempts.add(addresses)
          case .established(let number):
            if attempts.connected(number) { return .connected(families[number], at: now) }
          }
        }
      }
      now = max(now + 1, min(events.map(\.at).min() ?? .max, attempts.nextStart ?? .max))
    }
    return .timedOut
  }
}
