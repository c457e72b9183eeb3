// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Synchronization

/// How connecting to an address went, as a client reports it.
public enum ConnectionOutcome: Sendable, Hashable {
  /// Connected within that time.
  case connected(in: Duration)
  /// Not connected after that time, when another address was.
  case slower(than: Duration)
  /// Refused, unreachable, or timed out.
  case failed
}

/// What is known about addresses from real connections.
///
/// The cache keeps addresses in their order. It compares ``revision(of:)`` with the value when the order was made, and
/// so sees without a lock whether anything has been reported since.
final class AddressRanking: Sendable {
  private struct State {
    var records: [IPAddress: AddressRecord] = [:]
    /// When something was reported about an address, in order of time; of several entries of one address the last
    /// counts.
    var heard: Deque<(address: IPAddress, at: ResolverInstant)> = []
  }

  private let state = Locked(State())
  /// How often something was reported about the addresses that share a counter.
  private let counters = InlineArray<4096, Atomic<UInt32>> { _ in Atomic(0) }
  /// The most addresses that are remembered; with more, the one that was reported longest ago is forgotten.
  static let capacity = 20_000

  func report(_ address: IPAddress, _ outcome: ConnectionOutcome, at now: ResolverInstant) {
    state.withLock { state in
      state.records[address, default: AddressRecord()].note(outcome, at: now)
      state.heard.append((address, now))
      if state.records.count > Self.capacity || state.heard.count > Self.capacity * 2 { forgetEarliest(&state) }
      note(address)
    }
  }

  private func forgetEarliest(_ state: inout State) {
    while state.records.count > Self.capacity, let earliest = state.heard.popFirst() {
      guard state.records[earliest.address]?.heardAt == earliest.at else { continue }
      state.records[earliest.address] = nil
      note(earliest.address)
    }
    guard state.heard.count > Self.capacity * 2 else { return }
    var last: Set<IPAddress> = []
    let latest = state.heard.reversed().filter { last.insert($0.address).inserted }
    state.heard = Deque(latest.reversed())
  }

  func networkDidChange() {
    state.withLock { state in
      state = State()
      for counter in counters.indices { counters[counter].add(1, ordering: .releasing) }
    }
  }

  // MARK: Revisions

  /// A number that changes whenever something is reported about one of the addresses.
  func revision(of addresses: some Sequence<IPAddress>) -> UInt32 {
    addresses.reduce(0) { $0 &+ revision(high: $1.high, low: $1.low) }
  }

  /// What one address contributes to that number.
  @inline(__always)
  func revision(high: UInt64, low: UInt64) -> UInt32 {
    counters[Self.counter(high: high, low: low)].load(ordering: .acquiring)
  }

  private func note(_ address: IPAddress) {
    counters[Self.counter(high: address.high, low: address.low)].add(1, ordering: .releasing)
  }

  /// The counter of an address: the highest 12 bits of a product, as there are 4096 counters.
  @inline(__always)
  private static func counter(high: UInt64, low: UInt64) -> Int {
    Int(truncatingIfNeeded: ((high &* 0x9e37_79b9_7f4a_7c15 ^ low) &* 0xd6e8_feb8_6659_fd93) &>> 52)
  }

  // MARK: The order

  /// The order in which one family's addresses are used.
  func order(_ addresses: [IPAddress], at now: ResolverInstant) -> AddressOrder {
    state.withLock { state in
      state.records.isEmpty
        ? AddressOrder(equals: addresses) : AddressOrder(addresses, { state.records[$0] }, at: now)
    }
  }

  /// Sorts addresses into the order of use: the first family before the second, unless it is behind that one.
  ///
  /// - Parameters:
  ///   - addresses: one family's addresses, then the other's.
  ///   - firstCount: how many belong to the first family.
  ///   - takesTurns: whether equally good addresses take turns; otherwise they keep their order.
  ///   - now: the present, which decides whose turn it is.
  func order(_ addresses: inout AddressList, firstCount: Int, takesTurns: Bool = true, at now: ResolverInstant) {
    guard addresses.count > 1 else { return }
    let turn = takesTurns ? AddressOrder.Turn(at: now) : .first
    let first = order(Array(addresses.prefix(firstCount)), at: now)
    let second = order(Array(addresses.dropFirst(firstCount)), at: now)
    addresses = AddressList(
      first.isBehind(second)
        ? second.turned(by: turn) + first.turned(by: turn) : first.turned(by: turn) + second.turned(by: turn))
  }
}
