// SPDX-License-Identifier: Apache-2.0
extension DirectDNSError {
  /// Text from outside, made safe for a message: quoted, with invisible characters escaped, and cut if it is long.
  ///
  /// Messages end up in logs and on terminals, where a raw line feed fakes a line, an escape code is executed and a
  /// bidi control reorders the text.
  package static func quoted(_ text: some StringProtocol) -> String {
    let limit = 80
    let scalars = text.unicodeScalars
    let kept = scalars.prefix(limit).map { $0.escaped(asASCII: isInvisible($0)) }.joined()
    return scalars.count > limit ? "\"\(kept)…\"" : "\"\(kept)\""
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // A mark would combine with the quotation mark before it.
    case .nonspacingMark, .enclosingMark: true
    default: scalar.isUnprintable
    }
  }
}

extension Unicode.Scalar {
  /// Whether a terminal or a log reader would act on it, or not show it: ASCII and C1 controls, line and paragraph
  /// separators, format characters such as bidi controls, and characters for private use or without a meaning yet.
  package var isUnprintable: Bool {
    if value < 0x7f { return value < 0x20 }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return true
    default: return false
    }
  }
}

/// Escapes text from outside wherever it is shown: in messages, logs, terminals, tables, JSON and metrics.
///
/// From outside come names, replies, certificates, reason phrases, file names, rows of stores, and messages of C
/// libraries, which may repeat the others.
extension String {
  /// The text for one line, with what a terminal would act on escaped.
  package var printable: String { escaped { $0.isUnprintable } }

  /// The same for a text of several lines, whose line ends are kept.
  package var printableLines: String { escaped { $0 != "\n" && $0.isUnprintable } }

  private func escaped(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
    guard !utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return self }
    return unicodeScalars.map { isEscaped($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
  }
}
