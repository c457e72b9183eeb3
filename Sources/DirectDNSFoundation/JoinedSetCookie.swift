// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Several `Set-Cookie` fields that became one, with commas between them.
///
/// RFC 6265 §3 says not to fold them, since dates and values have commas too. A comma parts two cookies when a name and an
/// equals sign follow it: that is how browsers' network stacks read them apart.
enum JoinedSetCookie {
  /// The fields' values, in order.
  static func split(_ joined: String) -> [String] {
    // By code points: a comma or an equals sign with a combining mark behind it is another `Character`.
    let text = joined.unicodeScalars
    var fields: [Substring] = []
    var start = text.startIndex
    var position = start
    while let comma = text[position...].firstIndex(of: ",") {
      position = text.index(after: comma)
      if beginsWithPair(text[position...]) {
        fields.append(Substring(text[start..<comma]))
        start = position
      }
    }
    fields.append(Substring(text[start...]))
    return fields.map { String($0.trimmed) }.filter { !$0.isEmpty }
  }

  /// Whether a text begins with a token and `=`, blanks around the token aside.
  private static func beginsWithPair(_ text: Substring.UnicodeScalarView) -> Bool {
    let rest = text.drop { $0 == " " || $0 == "\t" }
    let name = rest.prefix { !" \t,;=\"".unicodeScalars.contains($0) }
    guard !name.isEmpty else { return false }
    return rest[name.endIndex...].first { $0 != " " && $0 != "\t" } == "="
  }
}
