// SPDX-License-Identifier: Apache-2.0
/// Shows names in Unicode in text for people: `例子.测试 (xn--fsqu00a.xn--0zwm56d)`.
///
/// Internally a name has only the `xn--` form of its labels, from which the Unicode form is decoded. The `xn--` form is
/// shown too, since two names may look alike (UTS #39).
enum NameSpelling {
  /// A name in Unicode; nil if it has no `xn--` label, or one that cannot be decoded or shown.
  static func spelled(_ name: String) -> String? {
    guard contains(name) else { return nil }
    var labels: [String] = []
    for label in name.split(separator: ".", omittingEmptySubsequences: false) {
      guard let unicode = IDNA.unicode(label: label.lowercased()) else { return nil }
      labels.append(unicode)
    }
    let text = labels.joined(separator: ".")
    return text != name && !text.unicodeScalars.contains(where: \.isUnprintable) ? text : nil
  }

  /// A text in which names with `xn--` labels are shown in both forms; a name after an opening parenthesis stays as it
  /// is.
  static func shown(_ text: String) -> String {
    guard contains(text) else { return text }
    var result = ""
    var rest = text.utf8[...]
    while let start = rest.firstIndex(where: isNameByte) {
      let end = rest[start...].firstIndex { !isNameByte($0) } ?? rest.endIndex
      var token = rest[start..<end]
      while token.last == ASCII.dot { token.removeLast() }
      let isBeside = start > rest.startIndex && rest[rest.index(before: start)] == UInt8(ascii: "(")
      result += String(Substring(rest[..<start]))
      rest = rest[token.endIndex...]
      let name = String(Substring(token))
      guard let spelled = spelled(name), !isBeside else {
        result += name
        // Dots alone are not a name: one of them is passed over.
        if token.isEmpty, let dot = rest.popFirst() { result.unicodeScalars.append(UnicodeScalar(dot)) }
        continue
      }
      // A URL stays in one piece: the name's other form follows it.
      let tail = tail(rest)
      result += spelled + String(Substring(tail)) + " (\(name))"
      rest = rest[tail.endIndex...]
    }
    return result + String(Substring(rest))
  }

  /// Whether there may be such a name in a text.
  private static func contains(_ text: String) -> Bool {
    let bytes = text.utf8.span
    return bytes.indices.contains { IDNA.isALabel(bytes.extracting($0...)) }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    HostName.isNameByte(ASCII.lowercased(byte)) || byte == ASCII.dot
  }

  /// The port and the path after a host, without a colon or a dot that ends a phrase.
  private static func tail(_ rest: Substring.UTF8View) -> Substring.UTF8View {
    guard let first = rest.first, first == ASCII.colon || first == ASCII.slash else { return rest[..<rest.startIndex] }
    let ends: Set<UInt8> = [
      ASCII.space, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ")"),
    ]
    var tail = rest[..<(rest.firstIndex(where: ends.contains) ?? rest.endIndex)]
    while let last = tail.last, last == ASCII.colon || last == ASCII.dot { tail.removeLast() }
    return tail
  }
}

extension HostName {
  /// The name for people: in Unicode, followed by the `xn--` form in parentheses if that differs.
  package var shown: String { NameSpelling.shown(text) }

  /// The name in Unicode, without the `xn--` form.
  package var spelled: String { NameSpelling.spelled(text) ?? text }
}
