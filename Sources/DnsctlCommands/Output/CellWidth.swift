// SPDX-License-Identifier: Apache-2.0
/// The columns that a text takes on a terminal (UAX #11, and UTS #51 for emoji).
///
/// An East Asian character or an emoji takes two, a combining mark none: counted as one each, they would misalign the
/// columns after them.
private enum CellWidth {
  static func of(_ text: some StringProtocol) -> Int {
    // One column per byte, for nearly all texts.
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    // An emoji takes two columns with everything that is joined to it; U+FE0F selects the emoji form of a character
    // that has a narrow one.
    if scalars.first?.properties.isEmojiPresentation == true || scalars.contains("\u{fe0f}") { return 2 }
    return scalars.reduce(0) { $0 + of($1) }
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
    default: return isWide(scalar) ? 2 : isJoined(scalar) ? 0 : 1
    }
  }

  /// Vowels and final consonants of Hangul, which are drawn in the cell of the consonant before them.
  private static func isJoined(_ scalar: Unicode.Scalar) -> Bool {
    (0x1160...0x11ff).contains(scalar.value) || (0xd7b0...0xd7ff).contains(scalar.value)
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x1100
      && (scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) })
  }

  /// Wide and full-width characters that are no emoji, by East_Asian_Width of Unicode 15: whole blocks, including code
  /// points without a character.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x3247, 0x3250...0x4dbf, 0x4e00...0xa4cf,
    0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60,
    0xffe0...0xffe6, 0x16fe0...0x18dff, 0x1aff0...0x1b2ff, 0x1f200...0x1f2ff, 0x20000...0x3fffd,
  ]
}

extension String {
  /// Columns on a terminal.
  var columns: Int { CellWidth.of(self) }

  /// The text, or as much of it as fits with an ellipsis.
  func cut(to width: Int) -> String {
    guard columns > width else { return self }
    guard width >= 1 else { return "" }
    return fitted(to: width - 1) + "…"
  }

  /// As much of the text as fits.
  func fitted(to width: Int) -> String {
    var left = width
    return String(
      prefix { character in
        left -= CellWidth.of(character)
        return left >= 0
      })
  }

  /// The text, filled up with blanks to the width of a column.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }
}
