// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Parses the field lines of a response's head, or of its trailers.
enum FieldReader {
  /// The fields of field lines; lines that are no field are left out.
  static func fields(_ bytes: [UInt8], from start: Int = 0) -> HTTPFields {
    let bytes = bytes.span
    // Gathered first: `HTTPFields` takes many fields at once far faster than one by one, even by `append(contentsOf:)`.
    var gathered: [HTTPField] = []
    gathered.reserveCapacity(12)
    var isDropped = false
    var line = start
    while line < bytes.count {
      let end = HeadLine.index(of: ASCII.newline, in: bytes, line..<bytes.count) ?? bytes.count
      defer { line = end + 1 }
      if bytes[line] == ASCII.space || bytes[line] == ASCII.tab {
        // A folded line continues the one before (RFC 9112 §5.2).
        guard !isDropped, let last = gathered.indices.last else { continue }
        let folded = HeadLine.trimmed(bytes, line..<end)
        if let more = HeadLine.text(bytes.extracting(folded)), !more.isEmpty { gathered[last].value += " " + more }
        continue
      }
      guard let colon = HeadLine.index(of: ASCII.colon, in: bytes, line..<end),
        let known = KnownFields.field(bytes.extracting(line..<colon))
      else {
        isDropped = true
        continue
      }
      let value = HeadLine.trimmed(bytes, colon + 1..<end)
      // A cookie with a control character has to be refused (RFC 6265bis §5.6), but `HTTPField` would replace it by a
      // blank.
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
    // Other bytes than UTF-8 in a URL reference are percent-encoded, as by curl and browsers.
    if known.isRestorable, name != .setCookie {
      var encoded: [UInt8] = []
      PercentEncoding.append(bytes.extracting(value), .nonASCII, to: &encoded)
      return HTTPField(name: name, value: encoded)
    }
    // In other fields they stay what they are (RFC 9110 §5.5).
    return HTTPField(name: name, value: value.map { bytes[$0] })
  }
}

/// The names of common response fields, which need not be checked and copied each time.
private enum KnownFields {
  struct Field {
    let name: HTTPField.Name
    /// Whether its value may have an address in place of the name; see ``ResponseRestorer``.
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

  /// The names by length, each in its usual spelling and in lower case, since a field keeps the spelling of the server.
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
      // By index, since copying each candidate would cost a retain for each of its parts.
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
