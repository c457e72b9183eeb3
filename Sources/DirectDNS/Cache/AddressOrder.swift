// SPDX-License-Identifier: Apache-2.0
/// The order in which one family's addresses are used, by what is known about them.
///
/// First come all that are as good as the best, in the order that the server gave them; they take turns. Then come
/// slower ones, by their connect time, and last those that failed, in the order in which they may be used again. An
/// address that nobody has tried yet counts as one of the best, so that it is tried.
struct AddressOrder: Sendable, Hashable {
  let addresses: [IPAddress]
  /// How many at the front are equally good.
  let equals: Int
  /// When the order changes by itself, because a failed address may be used again or a connect time is forgotten; nil
  /// if it does not.
  let changesAt: ResolverInstant?
  /// The best connect time; nil if none is known.
  private let best: Duration?
  /// Whether each address that has not failed has a connect time.
  private let isMeasured: Bool

  /// The order of addresses about which nothing is known.
  init(equals addresses: [IPAddress]) {
    self.addresses = addresses
    equals = addresses.count
    changesAt = nil
    best = nil
    isMeasured = false
  }

  /// The order by the records of those addresses that have one.
  init(_ addresses: [IPAddress], _ record: (IPAddress) -> AddressRecord?, at now: ResolverInstant) {
    var good: [(address: IPAddress, time: Duration?)] = []
    var failed: [(address: IPAddress, until: ResolverInstant)] = []
    var changesAt: ResolverInstant?
    for address in addresses {
      let record = record(address)
      if let until = record?.pushedBackUntil, until > now {
        failed.append((address, until))
        changesAt = min(changesAt ?? until, until)
      } else {
        let time = record?.connectTime(at: now)
        good.append((address, time))
        if time != nil, let until = record?.timeCountsUntil { changesAt = min(changesAt ?? until, until) }
      }
    }
    failed.sort { $0.until < $1.until }
    let best = good.compactMap(\.time).min()
    let bound = best.map { max($0 + AddressRecord.tie, $0 * 5 / 4) } ?? .zero
    let equals = good.filter { $0.time.map { $0 <= bound } ?? true }
    let slower = good.filter { $0.time.map { $0 > bound } ?? false }.sorted { ($0.time ?? .zero) < ($1.time ?? .zero) }
    self.addresses = (equals + slower).map(\.address) + failed.map(\.address)
    self.equals = equals.count
    self.changesAt = changesAt
    self.best = best
    isMeasured = good.allSatisfy { $0.time != nil }
  }

  /// Whether this family goes behind the other, although it is the preferred one: all of its addresses have failed, or
  /// connecting to any of them takes so much longer that a race is lost (RFC 8305 §4 allows to sort by such knowledge).
  func isBehind(_ other: AddressOrder) -> Bool {
    guard other.equals > 0 else { return false }
    guard equals > 0 else { return true }
    guard isMeasured, let best, let otherBest = other.best else { return false }
    return best - otherBest >= AddressRecord.lostRace
  }

  /// The addresses with the equally good ones rotated by a turn.
  func turned(by turn: Turn) -> [IPAddress] {
    addresses.indices.map { addresses[turn.place($0, of: equals)] }
  }

  /// Which of the equally good addresses comes first.
  ///
  /// It depends on the time, so that threads need not share a counter, and on the process, so that not all processes of
  /// a fleet use the same address.
  struct Turn: Sendable, Hashable {
    /// The order of the server.
    @inline(__always) static var first: Turn { Turn(number: 0) }

    private let number: UInt64

    @inline(__always)
    init(at now: ResolverInstant) {
      self.init(
        number: NameHash.mix(NameHash.seed ^ UInt64(bitPattern: now.nanoseconds &>> 22), 0xa076_1d64_78bd_642f) &>> 32)
    }

    /// Takes a number of 32 bits.
    @inline(__always)
    init(number: UInt64) { self.number = number }

    /// The index of the address that is used at a place, if so many at the front take turns.
    @inline(__always)
    func place(_ place: Int, of equals: Int) -> Int {
      guard place < equals else { return place }
      let moved = place &+ Int(truncatingIfNeeded: (number &* UInt64(truncatingIfNeeded: equals)) &>> 32)
      return moved < equals ? moved : moved &- equals
    }
  }
}

/// What is known about one address.
struct AddressRecord: Sendable, Hashable {
  /// Connect times that exceed the best one by no more than this count as equally good.
  static let tie = Duration.milliseconds(30)
  /// A family that takes longer than the other by this much goes behind it: nearly the 250 ms after which the other one's
  /// attempt begins (RFC 8305 §8), since both times are measured with the loop's precision.
  static let lostRace = Duration.milliseconds(200)
  /// How long a connect time counts after the address was last heard of.
  ///
  /// Then the address is as good as one that nobody has tried, and is tried: one slow moment must not keep it unused for
  /// ever.
  private static let timeLifetime = Duration.seconds(300)
  /// How long an address is put last after its first failure; doubled with each further one, up to the limit.
  private static let firstPenalty = Duration.seconds(30)
  private static let penaltyLimit = Duration.seconds(600)

  private var connectTime: Duration?
  private(set) var failuresInARow = 0
  private(set) var pushedBackUntil: ResolverInstant?
  private(set) var heardAt = ResolverInstant(nanoseconds: 0)

  /// When the connect time is forgotten unless the address is heard of again.
  fileprivate var timeCountsUntil: ResolverInstant { heardAt + Self.timeLifetime }

  /// The smoothed connect time; nil if it is unknown or too old.
  func connectTime(at now: ResolverInstant) -> Duration? { now < timeCountsUntil ? connectTime : nil }

  mutating func note(_ outcome: ConnectionOutcome, at now: ResolverInstant) {
    let known = connectTime(at: now)
    heardAt = now
    connectTime = known
    switch outcome {
    case .connected(let time):
      failuresInARow = 0
      pushedBackUntil = nil
      connectTime = known.map { $0 * 7 / 8 + time / 8 } ?? time
    case .slower(let time): connectTime = max(known ?? time, time)
    case .failed:
      // While it is put last, further failures do not count: a hundred requests may fail together at one dead address.
      guard pushedBackUntil.map({ $0 <= now }) ?? true else { return }
      pushedBackUntil = now + Self.firstPenalty.doubled(failuresInARow, atMost: Self.penaltyLimit)
      failuresInARow += 1
    }
  }
}
