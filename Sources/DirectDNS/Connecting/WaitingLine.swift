internal import DequeModule
internal import HeapModule

/// Requests that wait for a connection, by lane: served in the order of arrival, a lane that is full being passed over.
///
/// A pure value; adding, taking and parking cost the logarithm of the number of lanes that wait.
struct WaitingLine<Lane: AnyObject, Item> {
  private struct Turn: Comparable {
    let arrival: UInt64
    let lane: Lane

    static func < (left: Self, right: Self) -> Bool { left.arrival < right.arrival }
    static func == (left: Self, right: Self) -> Bool { left.arrival == right.arrival }
  }

  private struct Queue {
    var items = Deque<(arrival: UInt64, item: Item)>()
    /// Whether the lane's turn will come; a parked lane's will not.
    var hasTurn = false
  }

  private var queues: [ObjectIdentifier: Queue] = [:]
  private var turns = Heap<Turn>()
  private var arrivals: UInt64 = 0
  /// Requests that wait, those included that left without being taken.
  private(set) var count = 0

  /// Whether anybody waits in a lane.
  func isWaiting(in lane: Lane) -> Bool { queues[ObjectIdentifier(lane)] != nil }

  /// Adds a request at the end.
  mutating func append(_ item: Item, in lane: Lane) {
    arrivals += 1
    count += 1
    var queue = queues.removeValue(forKey: ObjectIdentifier(lane)) ?? Queue()
    queue.items.append((arrivals, item))
    let isNew = queue.items.count == 1
    queues[ObjectIdentifier(lane)] = queue
    if isNew { unpark(lane) }
  }

  /// The lane whose first request has waited longest.
  var nextLane: Lane? { turns.min?.lane }

  /// Takes a lane's first request.
  mutating func popFirst(in lane: Lane) -> Item? {
    let key = ObjectIdentifier(lane)
    guard var queue = queues.removeValue(forKey: key), let first = queue.items.popFirst() else { return nil }
    count -= 1
    let isNext = turns.min?.lane === lane
    if isNext { turns.removeMin() }
    if let second = queue.items.first {
      if isNext { turns.insert(Turn(arrival: second.arrival, lane: lane)) }
      queues[key] = queue
    } else if queue.hasTurn, !isNext {
      turns = Heap(turns.unordered.filter { $0.lane !== lane })
    }
    return first.item
  }

  /// Passes over the lane whose turn it is, until it is unparked.
  mutating func parkNext() {
    guard let turn = turns.popMin() else { return }
    queues[ObjectIdentifier(turn.lane)]?.hasTurn = false
  }

  /// Lets a lane have its turn again.
  mutating func unpark(_ lane: Lane) {
    let key = ObjectIdentifier(lane)
    guard let queue = queues[key], !queue.hasTurn, let first = queue.items.first else { return }
    queues[key]?.hasTurn = true
    turns.insert(Turn(arrival: first.arrival, lane: lane))
  }

  /// Everybody who waits, in no order.
  var items: [Item] { queues.values.flatMap { $0.items.map(\.item) } }

  /// Drops those who left.
  mutating func removeAll(where hasLeft: (Item) -> Bool) {
    for (key, queue) in queues {
      let kept = queue.items.filter { !hasLeft($0.item) }
      guard kept.count < queue.items.count else { continue }
      count -= queue.items.count - kept.count
      queues[key] = kept.isEmpty ? nil : Queue(items: Deque(kept), hasTurn: queue.hasTurn)
    }
    let waiting = queues
    turns = Heap(turns.unordered.filter { waiting[ObjectIdentifier($0.lane)] != nil })
  }
}
