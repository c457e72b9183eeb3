// SPDX-License-Identifier: Apache-2.0
/// The number of one of a kind, which cannot be taken for the number of one of another kind.
///
/// Numbers are hashed as fast as integers, which is what `RawRepresentable` is for.
struct Number<Kind>: RawRepresentable, Hashable, Comparable, Sendable {
  let rawValue: Int

  init(rawValue: Int) { self.rawValue = rawValue }

  /// The number of what has the same one elsewhere, where it is of another kind.
  init(sameAs other: Number<some Any>) { rawValue = other.rawValue }

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Values by ascending numbers, found without hashing.
///
/// A number's place is the number modulo the size of the table, or the next free place. Numbers that are in use at the
/// same time are usually close together, so that they rarely have the same place. 0 must not be used.
struct NumberTable<Kind, Value> {
  /// The number at each place; 0 if it is free.
  private var numbers = Array(repeating: 0, count: Self.leastSize)
  private var values: [Value?] = Array(repeating: nil, count: Self.leastSize)
  private(set) var count = 0
  /// How many values lie elsewhere than at their number's place, which was taken.
  private var displacedCount = 0

  private static var leastSize: Int { 16 }

  var isEmpty: Bool { count == 0 }

  /// The place of a number, or the free one that it would get.
  @inline(__always)
  private func place(_ number: Int) -> Int {
    var place = number & (numbers.count - 1)
    while numbers[place] != number, numbers[place] != 0 { place = (place + 1) & (numbers.count - 1) }
    return place
  }

  /// The value of a number; nil if there is none, and to remove it.
  subscript(number: Number<Kind>) -> Value? {
    get { values[place(number.rawValue)] }
    _modify {
      if 2 * (count + 1) > numbers.count { grow() }
      let place = place(number.rawValue)
      if numbers[place] == 0 {
        insert(number.rawValue, at: place)
        count += 1
      }
      yield &values[place]
      if values[place] == nil { removed(place) }
    }
  }

  /// Reads a value in place, since a copy would cost a retain for each of its parts.
  ///
  /// - Returns: what `body` returned; nil if the number has no value.
  @inline(__always)
  func read<Result>(_ number: Number<Kind>, _ body: (borrowing Value) -> Result) -> Result? {
    let place = place(number.rawValue)
    let values = values.span
    switch values[place] {
    case .some(let value): return body(value)
    case nil: return nil
    }
  }

  @discardableResult
  mutating func removeValue(forKey number: Number<Kind>) -> Value? {
    let place = place(number.rawValue)
    // First, since a value may be large even where there is none.
    guard numbers[place] != 0, let value = values[place].take() else { return nil }
    removed(place)
    return value
  }

  private mutating func insert(_ number: Int, at place: Int) {
    numbers[place] = number
    if number & (numbers.count - 1) != place { displacedCount += 1 }
  }

  /// Closes the gap that a removed value has left, since a search ends at the first free place.
  private mutating func removed(_ place: Int) {
    count -= 1
    let mask = numbers.count - 1
    if numbers[place] & mask != place { displacedCount -= 1 }
    // Where every value lies at its number's place, as nearly always, no search passes others.
    guard displacedCount > 0 else {
      numbers[place] = 0
      return
    }
    var gap = place
    var next = (place + 1) & mask
    while numbers[next] != 0 {
      let home = numbers[next] & mask
      if (next - home) & mask >= (next - gap) & mask {
        numbers[gap] = numbers[next]
        values.swapAt(gap, next)
        if home == gap { displacedCount -= 1 }
        gap = next
      }
      next = (next + 1) & mask
    }
    numbers[gap] = 0
  }

  private mutating func grow() {
    let old = (numbers: numbers, values: values)
    numbers = Array(repeating: 0, count: old.numbers.count * 2)
    values = Array(repeating: nil, count: old.numbers.count * 2)
    displacedCount = 0
    for (number, value) in zip(old.numbers, old.values) where number != 0 {
      let place = place(number)
      insert(number, at: place)
      values[place] = value
    }
  }

  /// All numbers and their values, sorted by number.
  var all: [(number: Number<Kind>, value: Value)] {
    zip(numbers, values).compactMap { number, value in value.map { (Number(rawValue: number), $0) } }
      .sorted { $0.number < $1.number }
  }
}

extension NumberTable: Sendable where Value: Sendable {}
