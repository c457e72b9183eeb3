internal import Synchronization

/// How a connection to an address went, as a client reports it.
public enum ConnectionOutcome: Sendable, Hashable {
  /// Connected, in so long.
  case connected(in: Duration)
  /// Not connected after so long, when another address was.
  case slower(than: Duration)
  /// Refused, unreachable, or timed out.
  case failed
}

/// What is known of addresses from real connections, and the order that follows from it.
final class AddressRanking: Sendable {
  private struct State {
    var records: [IPAddress: AddressRecord] = [:]
  }

  private let state = Locked(State())
  /// Spares lookups the lock while nobody has reported anything.
  private let isEmpty = Atomic<Bool>(true)
  /// Addresses that are remembered; beyond them the longest unheard-of goes.
  static let capacity = 20_000

  func report(_ address: IPAddress, _ outcome: ConnectionOutcome, at now: ResolverInstant) {
    isEmpty.store(false, ordering: .relaxed)
    state.withLock { state in
      var record = state.records[address] ?? AddressRecord()
      record.note(outcome, at: now)
      state.records[address] = record
      if state.records.count > Self.capacity,
        let oldest = state.records.min(by: { $0.value.heardAt < $1.value.heardAt })?.key
      {
        state.records[oldest] = nil
      }
    }
  }

  func networkDidChange() {
    state.withLock { $0.records = [:] }
    isEmpty.store(true, ordering: .relaxed)
  }

  /// Puts addresses into the order of use, each family's within its own places.
  ///
  /// - Parameters:
  ///   - addresses: one family's addresses, then the other's.
  ///   - firstCount: how many belong to the first family.
  ///   - takesTurns: whether addresses that are equally good take turns; otherwise they keep their order.
  ///   - now: the present, which the turns go by.
  @inline(__always)
  func order(_ addresses: inout AddressList, firstCount: Int, takesTurns: Bool = true, at now: ResolverInstant) {
    guard addresses.count > 1 else { return }
    orderSeveral(&addresses, firstCount: firstCount, takesTurns: takesTurns, at: now)
  }

  private func orderSeveral(
    _ addresses: inout AddressList, firstCount: Int, takesTurns: Bool, at now: ResolverInstant
  ) {
    // Turns change with the time, so that no counter is shared between threads.
    let turn =
      takesTurns
      ? NameHash.mix(NameHash.seed ^ UInt64(bitPattern: now.nanoseconds >> 22), 0xa076_1d64_78bd_642f) : 0
    let records =
      isEmpty.load(ordering: .relaxed)
      ? [:]
      : state.withLock { state in
        addresses.reduce(into: [:]) { $0[$1] = state.records[$1] }
      }
    let ordered =
      AddressRecord.order(Array(addresses.prefix(firstCount)), records, turn: turn, at: now)
      + AddressRecord.order(Array(addresses.dropFirst(firstCount)), records, turn: turn, at: now)
    for (index, address) in ordered.enumerated() { addresses[index] = address }
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
      pushedBackUntil = now + min(Self.firstPenalty * (1 << min(failuresInARow, 10)), Self.penaltyLimit)
      failuresInARow += 1
    }
  }

  /// The order of use of one family's addresses: those as good as the best take turns, slower ones follow by their
  /// time, and failed ones come last, the one that will be forgiven first before the others.
  ///
  /// An address that nobody has tried yet counts as good as the best: it must be tried to be known.
  static func order(
    _ addresses: [IPAddress], _ records: [IPAddress: AddressRecord], turn: UInt64, at now: ResolverInstant
  ) -> [IPAddress] {
    guard addresses.count > 1 else { return addresses }
    var good: [IPAddress] = []
    var failed: [(address: IPAddress, until: ResolverInstant)] = []
    for address in addresses {
      if let until = records[address]?.pushedBackUntil, until > now {
        failed.append((address, until))
      } else {
        good.append(address)
      }
    }
    let best = good.compactMap { records[$0]?.connectTime }.min()
    let bound = best.map { max($0 + tie, $0 * 5 / 4) }
    func time(_ address: IPAddress) -> Duration? { records[address]?.connectTime }
    let equals = good.filter { address in time(address).map { $0 <= (bound ?? $0) } ?? true }
    let slower = good.filter { address in time(address).map { $0 > (bound ?? $0) } ?? false }
      .sorted { (time($0) ?? .zero) < (time($1) ?? .zero) }
    let shift = equals.isEmpty ? 0 : Int(turn % UInt64(equals.count))
    return Array(equals[shift...] + equals[..<shift]) + slower + failed.sorted { $0.until < $1.until }.map(\.address)
  }
}
