// SPDX-License-Identifier: Apache-2.0
/// The order of use of one family's addresses, as it follows from what is known of them.
///
/// Those as good as the best stand first, in the order that the server gave them, and take turns; slower ones follow by
/// their time, and failed ones come last, the one that is forgiven first before the others. An address that nobody has
/// tried yet counts as good as the best: it must be tried to be known.
struct AddressOrder: Sendable, Hashable {
  let addresses: [IPAddress]
  /// How many of the first are equally good.
  let equals: Int
  /// When the order changes by itself, since an address is forgiven; nil if it stays.
  let changesAt: ResolverInstant?

  /// The order of addresses of which nothing is known.
  init(equals addresses: [IPAddress]) {
    self.addresses = addresses
    equals = addresses.count
    changesAt = nil
  }

  /// The order that follows from the records of those addresses that have one.
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

  /// The addresses in use: the equally good ones begin where the turn says.
  func turned(by turn: Turn) -> [IPAddress] {
    addresses.indices.map { addresses[turn.place($0, of: equals)] }
  }

  /// Whose turn it is.
  ///
  /// It changes with the time, so that no counter is shared between threads, and differs from process to process, so
  /// that a fleet does not pile onto one address.
  struct Turn: Sendable, Hashable {
    /// As the server gave them.
    @inline(__always) static var first: Turn { Turn(number: 0) }

    private let number: UInt64

    @inline(__always)
    init(at now: ResolverInstant) {
      self.init(
        number: NameHash.mix(NameHash.seed ^ UInt64(bitPattern: now.nanoseconds &>> 22), 0xa076_1d64_78bd_642f) &>> 32)
    }

    /// Takes 32 bits.
    @inline(__always)
    init(number: UInt64) { self.number = number }

    /// Where the address stands that comes in that place, when so many of the first take turns.
    @inline(__always)
    func place(_ place: Int, of equals: Int) -> Int {
      guard place < equals else { return place }
      let moved = place &+ Int(truncatingIfNeeded: (number &* UInt64(truncatingIfNeeded: equals)) &>> 32)
      return moved < equals ? moved : moved &- equals
    }
  }
}

/// What is known of one address.
struct AddressRecord: Sendable, Hashable {
  /// Times within this of the best one are as good as it.
  static let tie = Duration.milliseconds(30)
  /// A failed address is pushed back so long at first, doubling to the limit.
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
      // Of connections that fail together the first one counts: a hundred requests may meet one dead address at once.
      guard pushedBackUntil.map({ $0 <= now }) ?? true else { return }
      pushedBackUntil = now + Self.firstPenalty.doubled(failuresInARow, atMost: Self.penaltyLimit)
      failuresInARow += 1
    }
  }
}
