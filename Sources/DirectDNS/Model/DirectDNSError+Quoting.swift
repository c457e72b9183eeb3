// SPDX-License-Identifier: Apache-2.0
extension DirectDNSError {
  /// Text from outside as it may stand in a message: quoted, invisible characters escaped, cut when long.
  ///
  /// A message ends up in logs and on terminals, where a raw line feed forges a line, an escape code runs
  /// and a bidi control reorders what is read.
  package static func quoted(_ text: some StringProtocol) -> String {
    let limit = 80
    let scalars = text.unicodeScalars
    let kept = scalars.prefix(limit).map { $0.escaped(asASCII: isInvisible($0)) }.joined()
    return scalars.count > limit ? "\"\(kept)…\"" : "\"\(kept)\""
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // A mark would join the quotation mark before it.
    case .nonspacingMark, .enclosingMark: true
    default: scalar.isUnprintable
    }
  }
}

extension Unicode.Scalar {
  /// Whether a terminal or a log's reader would do something at it, or not see it: controls of ASCII and of C1, line and
  /// paragraph ends, what turns the direction of reading, what is invisible, and what means nothing yet.
  package var isUnprintable: Bool {
    if value < 0x7f { return value < 0x20 }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return true
    default: return false
    }
  }
}

/// The one way of text from outside to wherever it is shown: messages, logs, terminals, tables, JSON and metrics.
///
/// What comes from outside are names, replies, certificates, reason phrases, files' names, rows of stores, and the words
/// of C libraries, which repeat the former.
extension String {
  /// The text as it may be shown in a line: what a terminal would act on is escaped.
  package var printable: String { escaped { $0.isUnprintable } }

  /// The same of text in several lines, whose ends are ours.
  package var printableLines: String { escaped { $0 != "\n" && $0.isUnprintable } }

  private func escaped(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
    guard !utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return self }
    return unicodeScalars.map { isEscaped($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
  }
}
