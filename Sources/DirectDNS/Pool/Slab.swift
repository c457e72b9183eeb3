// SPDX-License-Identifier: Apache-2.0
/// Identifies a value in a ``Slab``; it stays invalid after the value is removed, even if another one gets its place.
struct SlabID<Element>: Hashable, Sendable {
  let index: Int
  fileprivate let serial: UInt32

  /// An id that no value has.
  static var none: SlabID { SlabID(index: 0, serial: .max) }
}

/// An array of values that keep their places, so that each is found without hashing; the places of removed values are
/// used again.
struct Slab<Element> {
  private struct Place {
    var serial: UInt32 = 0
    var element: Element?
  }

  private var places: [Place] = []
  private var free: [Int] = []

  var count: Int { places.count - free.count }

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

  /// A copy of a value; nil if it was removed.
  subscript(id: SlabID<Element>) -> Element? { has(id) ? places[id.index].element : nil }

  /// Reads a value in place, since a copy would cost a retain for each of its parts.
  ///
  /// - Returns: what `body` returned; nil if the value was removed.
  @inline(__always)
  func read<Result>(_ id: SlabID<Element>, _ body: (borrowing Element) -> Result) -> Result? {
    let places = places.span
    guard id.index < places.count, places[id.index].serial == id.serial else { return nil }
    switch places[id.index].element {
    case .some(let element): return body(element)
    case nil: return nil
    }
  }

  /// Changes a value in place.
  ///
  /// - Returns: what `body` returned; nil if the value was removed.
  @inline(__always) @discardableResult
  mutating func change<Result>(_ id: SlabID<Element>, _ body: (inout Element) -> Result) -> Result? {
    guard has(id), places[id.index].element != nil else { return nil }
    // There is no other way to change the value of an optional in place.
    // swift-format-ignore: NeverForceUnwrap
    return body(&places[id.index].element!)
  }

  /// Removes a value; its id is invalid from then on.
  @discardableResult
  mutating func remove(_ id: SlabID<Element>) -> Element? {
    guard has(id), let element = places[id.index].element.take() else { return nil }
    places[id.index].serial &+= 1
    free.append(id.index)
    return element
  }

  /// The ids of all values, in the order of their places.
  var ids: [SlabID<Element>] {
    places.indices.filter { places[$0].element != nil }.map { SlabID(index: $0, serial: places[$0].serial) }
  }
}
