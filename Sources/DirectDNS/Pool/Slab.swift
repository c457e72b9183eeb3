// SPDX-License-Identifier: Apache-2.0
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
  mutating func insert(_ element: consuming Element) -> SlabID<Element> {
    guard let index = free.popLast() else {
      places.append(Place(element: element))
      return SlabID(index: places.count - 1, serial: 0)
    }
    places[index].element = element
    return SlabID(index: index, serial: places[index].serial)
  }

  /// Whether a value is still there.
  func has(_ id: SlabID<Element>) -> Bool { id.index < places.count && places[id.index].serial == id.serial }

  /// A copy of a value; nil for one that was removed.
  subscript(id: SlabID<Element>) -> Element? { has(id) ? places[id.index].element : nil }

  /// Looks at a value where it is: to copy one costs a retain for each of its parts.
  ///
  /// - Returns: what was found; nil for a value that was removed.
  @inline(__always)
  func read<Result>(_ id: SlabID<Element>, _ body: (borrowing Element) -> Result) -> Result? {
    let places = places.span
    guard id.index < places.count, places[id.index].serial == id.serial else { return nil }
    switch places[id.index].element {
    case .some(let element): return body(element)
    case nil: return nil
    }
  }

  /// Changes a value where it is.
  ///
  /// - Returns: what came of it; nil for a value that was removed.
  @inline(__always) @discardableResult
  mutating func change<Result>(_ id: SlabID<Element>, _ body: (inout Element) -> Result) -> Result? {
    guard has(id), places[id.index].element != nil else { return nil }
    // Nothing else reaches into an optional where it stands.
    // swift-format-ignore: NeverForceUnwrap
    return body(&places[id.index].element!)
  }

  /// Takes a value out; its number means nothing from then on.
  @discardableResult
  mutating func remove(_ id: SlabID<Element>) -> Element? {
    guard has(id), let element = places[id.index].element.take() else { return nil }
    places[id.index].serial &+= 1
    free.append(id.index)
    return element
  }

  /// The numbers of all values, in no order that matters.
  var ids: [SlabID<Element>] {
    places.indices.filter { places[$0].element != nil }.map { SlabID(index: $0, serial: places[$0].serial) }
  }
}
