// SPDX-License-Identifier: Apache-2.0
/// The text form of records' data: words, quoted strings and escapes (RFC 1035 §5.1), and the generic form of RFC 3597
/// §5.
enum PresentationText {
  /// A word, or a string in quotes.
  struct Word: Hashable, Sendable {
    /// The bytes as they were written, without the quotes: in names, escapes have rules of their own.
    var written: [UInt8] = []
    /// The bytes, with escapes decoded.
    var bytes: [UInt8] = []
    /// Whether it began with a quote.
    var isQuoted = false

    /// The word as a number; nil for anything else.
    func number<Number: FixedWidthInteger>() -> Number? { Int64(ascii: bytes.span).flatMap { Number(exactly: $0) } }

    /// The word as a name, in which an escaped dot separates no labels; the root is a dot, and not an empty word.
    var name: DNSName? { written.isEmpty ? nil : DNSName(presentation: written.span) }
  }

  /// The words of a text; nil if a quote is not closed, or if an escape is malformed.
  static func words(_ text: String) -> [Word]? {
    var words: [Word] = []
    var word: Word?
    var isOpen = false
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case quote:
        // A closing quote ends the word, even if no space follows.
        if isOpen, word?.isQuoted == true {
          words.append(word ?? Word())
          word = nil
        } else if word == nil {
          word = Word(isQuoted: true)
        }
        isOpen.toggle()
      case ASCII.space where !isOpen, ASCII.tab where !isOpen:
        if let word { words.append(word) }
        word = nil
      case ASCII.backslash:
        guard let (value, length) = escape(rest) else { return nil }
        word = word ?? Word()
        word?.written += [byte] + rest.prefix(length)
        word?.bytes.append(value)
        rest = rest.dropFirst(length)
      default:
        word = word ?? Word()
        word?.written.append(byte)
        word?.bytes.append(byte)
      }
    }
    if let word { words.append(word) }
    return isOpen ? nil : words
  }

  /// The byte that an escape means, and its length after the backslash: `\DDD`, or any other character for itself.
  private static func escape(_ rest: ArraySlice<UInt8>) -> (value: UInt8, length: Int)? {
    guard let first = rest.first else { return nil }
    guard ASCII.isDigit(first) else { return (first, 1) }
    let digits = rest.prefix(3)
    guard digits.count == 3, digits.allSatisfy(ASCII.isDigit) else { return nil }
    let value = digits.reduce(0) { $0 * 10 + Int($1 - ASCII.zero) }
    return UInt8(exactly: value).map { ($0, 3) }
  }

  /// A string in quotes: a quote or a backslash gets a backslash, and a byte that is not printable ASCII becomes
  /// `\DDD`.
  static func quoted(_ bytes: some Sequence<UInt8>) -> String {
    var text = "\""
    for byte in bytes {
      switch byte {
      case quote, ASCII.backslash: text += "\\" + String(UnicodeScalar(byte))
      case 0x20...0x7e: text.unicodeScalars.append(UnicodeScalar(byte))
      default: text += "\\" + String(String(1000 + Int(byte)).dropFirst())
      }
    }
    return text + "\""
  }

  // MARK: RFC 3597

  /// `\# LENGTH HEX`.
  static func generic(_ bytes: [UInt8]) -> String {
    "\\# \(bytes.count)" + (bytes.isEmpty ? "" : " " + Hex.encoded(bytes).uppercased())
  }

  /// Whether a text has the form `\# LENGTH HEX`, even if its digits are wrong.
  static func isGeneric(_ text: String) -> Bool { text.hasPrefix("\\# ") || text.hasPrefix("\\#\t") }

  /// The bytes of `\# LENGTH HEX`, whose digits may be split into words; nil for any other text.
  static func bytes(generic text: String) -> [UInt8]? {
    guard isGeneric(text) else { return nil }
    let words = text.utf8.dropFirst(2).split { $0 == ASCII.space || $0 == ASCII.tab }
    guard let length = words.first.flatMap({ Int(String(decoding: $0, as: UTF8.self)) }),
      let bytes = Hex.decoded(words.dropFirst().joined()), bytes.count == length
    else { return nil }
    return bytes
  }

  static let quote = UInt8(ascii: "\"")
}
