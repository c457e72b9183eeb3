/// One `name=value` of a query, percent-decoded.
public struct QueryItem: Hashable, Sendable {
  /// The part before `=`.
  public let name: String
  /// The part after `=`; empty where there is none.
  public let value: String

  /// Creates an item.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// Reads a query, or the body of a form.
  static func items(of query: some StringProtocol) -> [QueryItem] {
    query.split(separator: "&").map { pair in
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return QueryItem(name: decoded(halves[0]), value: halves.count > 1 ? decoded(halves[1]) : "")
    }
  }

  /// Undoes percent-encoding.
  ///
  /// A `+` stays one: the providers' parameters are not forms.
  static func decoded(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
      if byte == UInt8(ascii: "%"), digits.count == 2 {
        bytes.append(UInt8(digits[0] * 16 + digits[1]))
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
