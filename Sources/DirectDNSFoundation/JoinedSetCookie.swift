// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Several `Set-Cookie` fields that became one, with commas between them.
///
/// RFC 6265 §3 says not to fold them, since dates and values have commas too. A comma parts two cookies when a name and an
/// equals sign follow it: that is how browsers' network stacks read them apart.
enum JoinedSetCookie {
  /// The fields' values, in order.
  static func split(_ joined: String) -> [String] {
    var fields: [Substring] = []
    var start = joined.startIndex
    var position = start
    while let comma = joined[position...].firstIndex(of: ",") {
      position = joined.index(after: comma)
      if beginsWithPair(joined[position...]) {
        fields.append(joined[start..<comma])
        start = position
      }
    }
    fields.append(joined[start...])
    return fields.map { String($0.trimmed) }.filter { !$0.isEmpty }
  }

  /// Whether a text begins with a token and `=`, blanks around the token aside.
  private static func beginsWithPair(_ text: Substring) -> Bool {
    let rest = text.drop { $0 == " " || $0 == "\t" }
    let name = rest.prefix { !" \t,;=\"".contains($0) }
    guard !name.isEmpty else { return false }
    return rest[name.endIndex...].first { $0 != " " && $0 != "\t" } == "="
  }
}
