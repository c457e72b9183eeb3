// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import HeapModule

/// Requests that wait for a connection, by pool.
///
/// A pure value. Requests are served in the order of arrival, except that a pool which is full is parked, and skipped
/// until it has room. Adding, taking and parking cost the logarithm of the number of waiting pools.
struct RequestQueue<Pool: Hashable, Item> {
  private struct Turn: Comparable {
    let arrival: UInt64
    let pool: Pool

    static func < (left: Self, right: Self) -> Bool { left.arrival < right.arrival }
    static func == (left: Self, right: Self) -> Bool { left.arrival == right.arrival }
  }

  private struct PoolQueue {
    var items = Deque<(arrival: UInt64, item: Item)>()
    /// Whether the pool is in ``RequestQueue/turns``; a parked pool is not.
    var hasTurn = false
  }

  private var queues: [Pool: PoolQueue] = [:]
  private var turns = Heap<Turn>()
  private var arrivals: UInt64 = 0
  /// How many requests wait, including those that have ended meanwhile and have not been dropped yet.
  private(set) var count = 0

  func isWaiting(in pool: Pool) -> Bool { queues[pool] != nil }

  mutating func append(_ item: Item, in pool: Pool) {
    arrivals += 1
    count += 1
    queues[pool, default: PoolQueue()].items.append((arrivals, item))
    if queues[pool]?.items.count == 1 { unpark(pool) }
  }

  /// Puts a request back to the front of its pool's queue, before all that came later.
  mutating func requeue(_ item: Item, in pool: Pool) {
    count += 1
    // Its own arrival number is not known any more; that of the next request, or 0, also puts it in front.
    let arrival = queues[pool]?.items.first?.arrival ?? 0
    queues[pool, default: PoolQueue()].items.prepend((arrival, item))
    if queues[pool]?.items.count == 1 { unpark(pool) }
  }

  /// The pool whose first request has waited longest.
  var nextPool: Pool? { turns.min?.pool }

  mutating func popFirst(in pool: Pool) -> Item? {
    guard var queue = queues.removeValue(forKey: pool), let first = queue.items.popFirst() else { return nil }
    count -= 1
    let isNext = turns.min?.pool == pool
    if isNext { turns.removeMin() }
    if let second = queue.items.first {
      if isNext { turns.insert(Turn(arrival: second.arrival, pool: pool)) }
      queues[pool] = queue
    } else if queue.hasTurn, !isNext {
      turns = Heap(turns.unordered.filter { $0.pool != pool })
    }
    return first.item
  }

  /// Skips the pool whose turn it is, until it is unparked.
  mutating func parkNext() {
    guard let turn = turns.popMin() else { return }
    queues[turn.pool]?.hasTurn = false
  }

  /// Lets a pool have its turn again.
  mutating func unpark(_ pool: Pool) {
    guard let queue = queues[pool], !queue.hasTurn, let first = queue.items.first else { return }
    queues[pool]?.hasTurn = true
    turns.insert(Turn(arrival: first.arrival, pool: pool))
  }

  /// Drops requests that have ended from the front of a pool's queue; those behind a waiting one are dropped later.
  mutating func dropFirst(in pool: Pool, where hasLeft: (Item) -> Bool) {
    while let first = queues[pool]?.items.first, hasLeft(first.item) { _ = popFirst(in: pool) }
  }
}
