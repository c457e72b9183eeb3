// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A cell of a table: a text that may come from anywhere, and its colour, which is applied after the width is known.
struct TableCell: Sendable {
  /// The text, safe for a terminal.
  let text: String
  let paint: @Sendable (String) -> String

  /// Takes a text; what acts on a terminal is escaped.
  init(_ text: String, paint: @escaping @Sendable (String) -> String = { $0 }) {
    self.text = text.printable
    self.paint = paint
  }

  /// The text in its colour.
  var shown: String { paint(text) }
}
