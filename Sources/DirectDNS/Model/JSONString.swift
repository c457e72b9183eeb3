// SPDX-License-Identifier: Apache-2.0
extension String {
  /// The text as a JSON string (RFC 8259 §7), with what a terminal would act on escaped.
  ///
  /// `/` needs no escape and gets none.
  package var jsonString: String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result += scalar.jsonText
      }
    }
    return result + "\""
  }
}

extension Unicode.Scalar {
  /// The character itself, or its escape in a JSON string if a terminal would act on it.
  package var jsonText: String {
    guard isUnprintable else { return String(self) }
    return UTF16.encode(self)?.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined() ?? ""
  }
}
