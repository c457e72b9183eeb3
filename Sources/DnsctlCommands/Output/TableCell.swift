// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A cell of a table: a text that may be anyone's, and how it is coloured once its width is settled.
struct TableCell: Sendable {
  /// The text as it may stand on a terminal.
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
