// SPDX-License-Identifier: Apache-2.0
/// What is fuzzed: rules that hold for whatever bytes come.
struct FuzzTarget: Sendable {
  /// What `make fuzz TARGET=` and the folder of its seeds call it.
  let name: String
  /// Applies the rules to an input; throws the one that does not hold.
  let check: @Sendable ([UInt8]) throws(BrokenRule) -> Void

  init(_ name: String, _ check: @escaping @Sendable ([UInt8]) throws(BrokenRule) -> Void) {
    self.name = name
    self.check = check
  }

  static let all =
    messages + jsonTexts + names + cookies + stores + rewriting + proxy + metrics

  /// The target of that name.
  static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A rule that an input broke.
struct BrokenRule: Error, CustomStringConvertible {
  let description: String
}

/// Holds a rule up to an input.
///
/// - Throws: the rule, where it does not hold.
func require(_ holds: Bool, _ rule: @autoclosure () -> String) throws(BrokenRule) {
  if !holds { throw BrokenRule(description: rule()) }
}

extension [UInt8] {
  /// The input as text, what is no UTF-8 repaired: nothing else reaches what takes a `String`.
  var asText: String { String(decoding: self, as: UTF8.self) }

  /// What stands before the first line feed, and what stands behind it.
  var firstLineAndRest: (first: [UInt8], rest: [UInt8]) {
    guard let end = firstIndex(of: 0x0a) else { return (self, []) }
    return (Array(self[..<end]), Array(self[(end + 1)...]))
  }
}
