// SPDX-License-Identifier: Apache-2.0
/// Where the URL stands in the value of `Refresh`: `5; url=/next` (HTML, "shared declarative refresh steps").
enum RefreshURL {
  /// The URL's place; nil for a value that only names a time.
  static func range(in value: String) -> Range<String.Index>? {
    var rest = value[...].drop(while: isBlank)
    let time = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    guard let first = time.first else { return nil }
    rest = rest[time.endIndex...]
    guard first != ".", let next = rest.first, next == ";" || next == "," || isBlank(next) else { return nil }
    rest = rest.drop(while: isBlank)
    if rest.first == ";" || rest.first == "," { rest = rest.dropFirst().drop(while: isBlank) }
    rest = withoutKey(rest)
    if let quote = rest.first, quote == "\"" || quote == "'" {
      rest = rest.dropFirst().prefix { $0 != quote }
    }
    return rest.isEmpty ? nil : rest.startIndex..<rest.endIndex
  }

  /// What follows `url=`; all of it where that does not stand in front.
  private static func withoutKey(_ text: Substring) -> Substring {
    guard text.prefix(3).lowercased() == "url" else { return text }
    let rest = text.dropFirst(3).drop(while: isBlank)
    return rest.first == "=" ? rest.dropFirst().drop(while: isBlank) : text
  }

  private static func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t" || character == "\n" || character == "\r\n" || character == "\r"
      || character == "\u{c}"
  }
}
