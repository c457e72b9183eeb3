// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// A request's header fields in libcurl's form: in their order and as they were given, and without any that libcurl
/// would add.
struct FieldLines: Sendable {
  /// The lines, each followed by a NUL.
  private(set) var bytes: [UInt8] = []

  /// The lines of a request.
  ///
  /// - Parameters:
  ///   - method: the request's method.
  ///   - fields: its fields.
  ///   - body: what it sends.
  ///   - cookie: the jar's cookies for its URL, which come before the caller's own.
  ///   - settings: says what the client adds, and what it does not send.
  init(
    _ method: HTTPRequest.Method, _ fields: HTTPFields, _ body: RequestBody, cookie: String?,
    _ settings: DirectClientConfiguration
  ) {
    bytes.reserveCapacity(256)
    var seen = Seen()
    for field in fields {
      switch field.name {
      case .originalURL where !settings.forwardsOriginalURL: continue
      // libcurl tells the server the body's length, in the way of the HTTP version in use.
      case .contentLength, .transferEncoding: continue
      case .cookie:
        if cookie == nil, !seen.cookie { append(cookies: nil, and: fields) }
        seen.cookie = true
        continue
      case .accept: seen.accept = true
      case .expect: seen.expect = true
      case .contentType: seen.contentType = true
      case .userAgent: seen.userAgent = true
      case .trailer: seen.trailer = true
      default: break
      }
      append(field)
    }
    if let cookie { append(cookies: cookie, and: fields) }
    if !seen.userAgent, let userAgent = settings.userAgent, !userAgent.isEmpty { append(.userAgent, userAgent) }
    if !body.trailerFields.isEmpty, !seen.trailer {
      append(.trailer, body.trailerFields.map(\.name.rawName).joined(separator: ", "))
    }
    if !seen.accept { suppress("Accept") }
    guard body.isSent(with: method) else { return }
    if !seen.expect { suppress("Expect") }
    guard !seen.contentType else { return }
    if let type = body.sentContentType { append(.contentType, type) } else { suppress("Content-Type") }
  }

  /// Which of the fields that the client or libcurl would add the request has itself.
  private struct Seen {
    var accept = false
    var cookie = false
    var expect = false
    var contentType = false
    var userAgent = false
    var trailer = false
  }

  /// The lines of the fields that follow a body.
  init(trailers: HTTPFields) {
    for field in trailers { append(field) }
  }

  /// The fields that are sent: the lines without those that only suppress a field.
  var fields: HTTPFields {
    var fields = HTTPFields()
    for line in bytes.split(separator: 0) {
      guard let end = line.firstIndex(where: { $0 == ASCII.colon || $0 == ASCII.semicolon }),
        let name = HTTPField.Name(String(decoding: line[..<end], as: UTF8.self)),
        line[end] == ASCII.semicolon || end + 1 < line.endIndex
      else { continue }
      // One blank follows the colon.
      fields.append(HTTPField(name: name, value: line.dropFirst(end - line.startIndex + 2)))
    }
    return fields
  }

  /// Whether HTTP/2 can carry them together with a URL.
  ///
  /// nghttp2 sends no larger head than 64 KiB (`NGHTTP2_MAX_HEADERSLEN`), for which it counts names and values, and 12
  /// bytes for each field (`nghttp2_hd_deflate_bound`). libcurl takes that for a failure of the connection, or for the
  /// server's refusal.
  func fitHTTP2(with url: WebURL) -> Bool {
    let length = bytes.count + url.href.utf8.count
    // A line has three bytes at least: few heads are so long that theirs have to be counted.
    guard length > 12 * 1024 else { return true }
    // What libcurl adds is less than the last 1 KiB.
    return length + 12 * bytes.count { $0 == 0 } <= 63 * 1024
  }

  /// `Name: value`, or `Name;` for an empty value (CURLOPT_HTTPHEADER(3)).
  private mutating func append(_ name: HTTPField.Name, value: (inout [UInt8]) -> Void) {
    bytes.append(contentsOf: name.rawName.utf8)
    bytes.append(ASCII.colon)
    bytes.append(ASCII.space)
    let start = bytes.count
    value(&bytes)
    if bytes.count == start { bytes.replaceSubrange(start - 2..<start, with: CollectionOfOne(ASCII.semicolon)) }
    bytes.append(0)
  }

  private mutating func append(_ name: HTTPField.Name, _ value: String) {
    append(name) { $0.append(contentsOf: value.utf8) }
  }

  private mutating func append(_ field: HTTPField) { append(field.name) { $0.append(valueOf: field) } }

  /// Adds all cookies in one field: HTTPFields may have a field for each, as in HTTP/2, and HTTP/1.1 requires one (RFC 9113
  /// §8.2.3).
  private mutating func append(cookies cookie: String?, and fields: HTTPFields) {
    append(.cookie) { bytes in
      if let cookie { bytes.append(contentsOf: cookie.utf8) }
      var isFirst = cookie == nil
      for field in fields where field.name == .cookie {
        if !isFirst { bytes.append(contentsOf: "; ".utf8) }
        bytes.append(valueOf: field)
        isFirst = false
      }
    }
  }

  /// Keeps libcurl from adding a field of its own: `Name:`.
  private mutating func suppress(_ name: String) {
    bytes.append(contentsOf: name.utf8)
    bytes.append(ASCII.colon)
    bytes.append(0)
  }
}
