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
  /// When the order changes by itself, because a failed address may be used again; nil if it does not.
  let changesAt: ResolverInstant?

  /// The order of addresses about which nothing is known.
  init(equals addresses: [IPAddress]) {
    self.addresses = addresses
    equals = addresses.count
    changesAt = nil
  }

  /// The order by the records of those addresses that have one.
  init(_ addresses: [IPAddress], _ record: (IPAddress) -> AddressRecord?, at now: ResolverInstant) {
    var good: [(address: IPAddress, time: Duration?)] = []
    var failed: [(address: IPAddress, until: ResolverInstant)] = []
    for address in addresses {
      let record = record(address)
      if let until = record?.pushedBackUntil, until > now {
        failed.append((address, until))
      } else {
        good.append((address, record?.connectTime))
      }
    }
    failed.sort { $0.until < $1.until }
    let best = good.compactMap(\.time).min()
    let bound = best.map { max($0 + AddressRecord.tie, $0 * 5 / 4) } ?? .zero
    let equals = good.filter { $0.time.map { $0 <= bound } ?? true }
    let slower = good.filter { $0.time.map { $0 > bound } ?? false }.sorted { ($0.time ?? .zero) < ($1.time ?? .zero) }
    self.addresses = (equals + slower).map(\.address) + failed.map(\.address)
    self.equals = equals.count
    changesAt = failed.first?.until
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
  /// How long an address is put last after its first failure; doubled with each further one, up to the limit.
  static let firstPenalty = Duration.seconds(30)
  static let penaltyLimit = Duration.seconds(600)

  private(set) var connectTime: Duration?
  private(set) var failuresInARow = 0
  private(set) var pushedBackUntil: ResolverInstant?
  private(set) var heardAt = ResolverInstant(nanoseconds: 0)

  mutating func note(_ outcome: ConnectionOutcome, at now: ResolverInstant) {
    heardAt = now
    switch outcome {
    case .connected(let time):
      failuresInARow = 0
      pushedBackUntil = nil
      connectTime = connectTime.map { $0 * 7 / 8 + time / 8 } ?? time
    case .slower(let time): connectTime = max(connectTime ?? time, time)
    case .failed:
      // While it is put last, further failures do not count: a hundred requests may fail together at one dead address.
      guard pushedBackUntil.map({ $0 <= now }) ?? true else { return }
      pushedBackUntil = now + Self.firstPenalty.doubled(failuresInARow, atMost: Self.penaltyLimit)
      failuresInARow += 1
    }
  }
}
