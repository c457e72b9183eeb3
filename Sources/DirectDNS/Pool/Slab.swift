/// The place of a value in a ``Slab``: good for that value alone, also when another has taken its place since.
struct SlabID<Element>: Hashable, Sendable {
  let index: Int
  fileprivate let serial: UInt32

  /// No value's.
  static var none: SlabID { SlabID(index: 0, serial: .max) }
}

/// Values under numbers of their own, found without hashing; a place that was left is given out again.
struct Slab<Element> {
  private struct Place {
    var serial: UInt32 = 0
    var element: Element?
  }

  private var places: [Place] = []
  private var free: [Int] = []

  /// How many values there are.
  var count: Int { places.count - free.count }

  /// Keeps a value.
  mutating func insert(_ element: Element) -> SlabID<Element> {
    guard let index = free.popLast() else {
      places.append(Place(element: element))
      return SlabID(index: places.count - 1, serial: 0)
    }
    places[index].element = element
    return SlabID(index: index, serial: places[index].serial)
  }

  private func has(_ id: SlabID<Element>) -> Bool { id.index < places.count && places[id.index].serial == id.serial }

  /// A value; nil for one that was removed.
  subscript(id: SlabID<Element>) -> Element? {
    _read {
      if has(id) { yield places[id.index].element } else { yield nil }
    }
    _modify {
      var none: Element?
      if has(id) { yield &places[id.index].element } else { yield &none }
    }
  }

  /// Forgets a value; its number means nothing from then on.
  mutating func remove(_ id: SlabID<Element>) {
    guard self[id] != nil else { return }
    places[id.index].element = nil
    places[id.index].serial &+= 1
    free.append(id.index)
  }

  /// The numbers of all values, in no order that matters.
  var ids: [SlabID<Element>] {
    places.indices.filter { places[$0].element != nil }.map { SlabID(index: $0, serial: places[$0].serial) }
  }
}
