// SPDX-License-Identifier: Apache-2.0
/// How many names must have an address for a warm-up to have succeeded.
public enum WarmupMinimum: Sendable, Hashable {
  /// So many names.
  case names(Int)
  /// That share of the list's names, from 0 to 1, rounded up; of an empty list only 0 is reached.
  case share(Double)

  /// Every name.
  public static let all = WarmupMinimum.share(1)

  /// Reads `40` or `95%`.
  public init?(_ text: String) {
    if text.utf8.last == UInt8(ascii: "%") {
      let digits = text.dropLast()
      guard digits.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == ASCII.dot }), let percent = Double(digits),
        (0...100).contains(percent)
      else { return nil }
      self = .share(percent / 100)
    } else {
      guard text.utf8.allSatisfy(ASCII.isDigit), let count = Int(text) else { return nil }
      self = .names(count)
    }
  }

  /// How many of so many names must have an address.
  public func needed(of names: Int) -> Int {
    switch self {
    case .names(let count): max(0, count)
    case .share(let share): needed(of: names, share: Self.bounded(share))
    }
  }

  private func needed(of names: Int, share: Double) -> Int {
    guard share > 0 else { return 0 }
    // A share that binary fractions cannot hold, such as 7 % of 100, must not ask for one more. Some of nothing is not
    // reached: a list that is empty by mistake would let everyone through.
    return max(1, min(names, Int(exactly: (share * Double(names) - 1e-6).rounded(.up)) ?? names))
  }

  /// A share between none and all; one that is no number asks for all.
  private static func bounded(_ share: Double) -> Double { share.isNaN ? 1 : min(max(share, 0), 1) }

  /// Whether so many names are enough.
  ///
  /// - Parameters:
  ///   - answered: the names that have an address.
  ///   - names: the names of the list, as far as they are known.
  ///   - isListComplete: whether all of them are known; of an unknown number only nothing is a certain share.
  /// - Returns: whether the minimum is reached.
  func isReached(_ answered: Int, of names: Int, isListComplete: Bool) -> Bool {
    if !isListComplete, case .share(let share) = self, Self.bounded(share) > 0 { return false }
    return answered >= needed(of: names)
  }
}

extension WarmupMinimum: CustomStringConvertible, Codable {
  /// `40` or `95%`.
  public var description: String {
    switch self {
    case .names(let count): return "\(count)"
    case .share(let share):
      let hundredths = Int((Self.bounded(share) * 10_000).rounded())
      let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
      guard rest > 0 else { return "\(whole)%" }
      return rest % 10 == 0 ? "\(whole).\(rest / 10)%" : "\(whole).\(rest < 10 ? "0" : "")\(rest)%"
    }
  }

  /// Decodes `40` or `95%`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let minimum = WarmupMinimum(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no count of names and no percentage")
    }
    self = minimum
  }

  /// Encodes the minimum as its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
