// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Reads the field lines of a response's head, and of the trailers behind its body.
enum FieldReader {
  /// The fields of field lines; what is none is left out.
  static func fields(_ bytes: [UInt8], from start: Int = 0) -> HTTPFields {
    let bytes = bytes.span
    // Gathered first: `HTTPFields` takes many at once far faster than one by one, as its `append(contentsOf:)` does.
    var gathered: [HTTPField] = []
    gathered.reserveCapacity(12)
    var isDropped = false
    var line = start
    while line < bytes.count {
      let end = lineEnd(bytes, from: line) ?? bytes.count
      defer { line = end + 1 }
      if bytes[line] == ASCII.space || bytes[line] == ASCII.tab {
        // A line folded onto the one before (RFC 9112 §5.2).
        guard !isDropped, let last = gathered.indices.last else { continue }
        let folded = value(bytes, line, end)
        if let more = HeadLine.text(bytes.extracting(folded)), !more.isEmpty { gathered[last].value += " " + more }
        continue
      }
      guard let colon = HeadLine.index(of: ASCII.colon, in: bytes, line..<end),
        let known = KnownFields.field(bytes.extracting(line..<colon))
      else { continue }
      let value = value(bytes, colon + 1, end)
      // `HTTPField` makes blanks of control characters: what a jar has to refuse (RFC 6265bis §5.6) would be a cookie.
      isDropped = known.isRestorable && known.name == .setCookie && value.contains { ASCII.isControl(bytes[$0]) }
      if !isDropped { gathered.append(field(known, bytes, value)) }
    }
    var fields = HTTPFields()
    fields.reserveCapacity(gathered.count)
    fields.replaceSubrange(0..<0, with: gathered)
    return fields
  }

  private static func field(_ known: KnownFields.Field, _ bytes: Span<UInt8>, _ value: Range<Int>) -> HTTPField {
    let name = known.name
    if let text = HeadLine.text(bytes.extracting(value)) { return HTTPField(name: name, value: text) }
    // In a reference they are the page's name on its server: curl and browsers ask for them percent-encoded.
    if known.isRestorable, name != .setCookie {
      var encoded: [UInt8] = []
      PercentEncoding.append(bytes.extracting(value), .nonASCII, to: &encoded)
      return HTTPField(name: name, value: encoded)
    }
    // Octets that are no UTF-8 stay the octets that they are (RFC 9110 §5.5).
    return HTTPField(name: name, value: value.map { bytes[$0] })
  }

  /// The range without the blanks around it.
  static func value(_ bytes: Span<UInt8>, _ from: Int, _ to: Int) -> Range<Int> {
    var start = from
    var end = to
    while end > start, ASCII.isBlankOrReturn(bytes[end - 1]) { end -= 1 }
    while start < end, ASCII.isBlankOrReturn(bytes[start]) { start += 1 }
    return start..<end
  }

  static func lineEnd(_ bytes: Span<UInt8>, from start: Int) -> Int? {
    HeadLine.index(of: ASCII.newline, in: bytes, start..<bytes.count)
  }
}

/// Names of fields that responses have, so that the common ones need not be checked and copied each time.
enum KnownFields {
  struct Field {
    let name: HTTPField.Name
    /// Whether an address can stand for the name in its value.
    let isRestorable: Bool

    init(_ name: HTTPField.Name) {
      self.name = name
      isRestorable = ResponseRestorer.fields.contains(name)
    }
  }

  private static let names: [HTTPField.Name] = [
    .acceptRanges, .age, .allow, .cacheControl, .connection, .contentDisposition, .contentEncoding, .contentLanguage,
    .contentLength, .contentLocation, .contentRange, .contentType, .date, .eTag, .expires, .lastModified, .location,
    .refresh, .retryAfter, .server, .setCookie, .strictTransportSecurity, .transferEncoding, .vary, .wwwAuthenticate,
  ]

  /// By length; a name that a server spells otherwise has an entry of its own: its spelling is kept.
  private static let byLength: [[(bytes: [UInt8], field: Field)]] = {
    var table: [[(bytes: [UInt8], field: Field)]] = Array(repeating: [], count: 32)
    for name in names {
      for spelling in [name.rawName, name.canonicalName] {
        let bytes = Array(spelling.utf8)
        guard bytes.count < table.count, let spelled = HTTPField.Name(spelling),
          !table[bytes.count].contains(where: { $0.bytes == bytes })
        else { continue }
        table[bytes.count].append((bytes, Field(spelled)))
      }
    }
    return table
  }()

  static func field(_ bytes: Span<UInt8>) -> Field? {
    if bytes.count < byLength.count {
      let candidates = byLength[bytes.count]
      // By their places: to hand out each one that is looked at would cost a retain for each of its parts.
      for index in candidates.indices where isEqual(candidates[index].bytes, bytes) {
        return candidates[index].field
      }
    }
    return HeadLine.text(bytes).flatMap { HTTPField.Name($0) }.map(Field.init)
  }

  private static func isEqual(_ left: [UInt8], _ right: Span<UInt8>) -> Bool {
    for place in 0..<right.count where left[place] != right[place] { return false }
    return true
  }
}
