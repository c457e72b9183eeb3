// SPDX-License-Identifier: Apache-2.0
/// Values under numbers that were given out one after another, found without hashing.
///
/// A number's place is the number itself, modulo the size: those that are under way at a time lie close together, so
/// that hardly two of them want the same place. One whose place is taken has the next one that is free. 0 is no number.
struct NumberTable<Value> {
  /// Whose each place is; 0 where it is free.
  private var numbers: [Int]
  private var values: [Value?]
  private(set) var count = 0

  init() {
    numbers = Array(repeating: 0, count: Self.leastSize)
    values = Array(repeating: nil, count: Self.leastSize)
  }

  private static var leastSize: Int { 16 }

  var isEmpty: Bool { count == 0 }

  /// The place of a number, or the free one that it would have.
  @inline(__always)
  private func place(_ number: Int) -> Int {
    var place = number & (numbers.count - 1)
    while numbers[place] != number, numbers[place] != 0 { place = (place + 1) & (numbers.count - 1) }
    return place
  }

  /// The value of a number; nil takes it out.
  subscript(number: Int) -> Value? {
    get { values[place(number)] }
    _modify {
      if 2 * (count + 1) > numbers.count { grow() }
      let place = place(number)
      if numbers[place] == 0 {
        numbers[place] = number
        count += 1
      }
      yield &values[place]
      if values[place] == nil { removed(place) }
    }
  }

  /// Looks at a value where it is: to copy one costs a retain for each of its parts.
  ///
  /// - Returns: what was found; nil where the number has no value.
  @inline(__always)
  func read<Result>(_ number: Int, _ body: (borrowing Value) -> Result) -> Result? {
    let place = place(number)
    let values = values.span
    switch values[place] {
    case .some(let value): return body(value)
    case nil: return nil
    }
  }

  /// Takes a value out.
  @discardableResult
  mutating func removeValue(forKey number: Int) -> Value? {
    let place = place(number)
    guard let value = values[place].take() else { return nil }
    removed(place)
    return value
  }

  /// Closes the gap that a value has left: whoever searches ends at the first free place.
  private mutating func removed(_ place: Int) {
    count -= 1
    let mask = numbers.count - 1
    var gap = place
    var next = (place + 1) & mask
    while numbers[next] != 0 {
      let home = numbers[next] & mask
      if (next - home) & mask >= (next - gap) & mask {
        numbers[gap] = numbers[next]
        values.swapAt(gap, next)
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
    for (number, value) in zip(old.numbers, old.values) where number != 0 {
      let place = place(number)
      numbers[place] = number
      values[place] = value
    }
  }

  /// All numbers and their values, in the order of the numbers.
  var all: [(number: Int, value: Value)] {
    zip(numbers, values).compactMap { number, value in value.map { (number, $0) } }.sorted { $0.number < $1.number }
  }
}

extension NumberTable: Sendable where Value: Sendable {}
