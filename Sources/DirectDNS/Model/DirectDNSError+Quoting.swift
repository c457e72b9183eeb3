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
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned,
      .nonspacingMark, .enclosingMark:
      true
    default: false
    }
  }
}

extension String {
  /// The text as it may stand on a terminal: what is invisible, moves the cursor or turns the direction of reading is
  /// escaped.
  package var printable: String {
    guard !utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return self }
    return unicodeScalars.map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
        scalar.escaped(asASCII: true)
      default: String(scalar)
      }
    }.joined()
  }
}
