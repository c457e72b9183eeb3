// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A head as it goes to the next hop (RFC 9110 §7.6): the bytes that came, without what was only for this hop.
enum ForwardedHead {
  /// A request as it goes to its origin.
  ///
  /// - Parameters:
  ///   - head: the request.
  ///   - origin: where it goes; `Host` names it, whatever the request said.
  ///   - path: the path, with the query.
  ///   - authorization: the value of `Authorization` if the request has none and its URL has user info.
  ///   - maxForwards: the new value of the field; nil leaves it as it is.
  ///   - upgrades: whether it may switch to another protocol, which a request with a body may not.
  ///   - upstream: the proxy that it goes to, which is sent the whole URL; nil for the origin itself.
  ///   - via: the proxies that it has come through, which only such a proxy is told.
  /// - Returns: the head, with its empty line.
  static func request(
    _ head: MessageHead, to origin: ForwardOrigin, path: [UInt8], authorization: String? = nil,
    maxForwards: Int? = nil, upgrades: Bool = true, through upstream: UpstreamProxy? = nil, via: ProxyVia = ProxyVia()
  ) -> [UInt8] {
    guard case .request(let method, _) = head.start else { return [] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.bytes.count + 32)
    bytes += head.bytes[method]
    bytes.append(0x20)
    if upstream != nil { bytes += "http://\(origin.hostField)".utf8 }
    // For a proxy, OPTIONS * is a URL without a path (RFC 9112 §3.2.4).
    if upstream == nil || path != [UInt8(ascii: "*")] { bytes += path }
    bytes += " HTTP/1.1\r\nHost: ".utf8
    bytes += origin.hostField.utf8
    bytes += "\r\n".utf8
    if let authorization { bytes += "Authorization: \(authorization)\r\n".utf8 }
    if let upstream {
      bytes += upstream.authorization.utf8
      if !via.marks.isEmpty { bytes += "Connection: DirectDNS-Via\r\n\(via.line)".utf8 }
    }
    let upgrade = upgrades ? upgrade(head) : nil
    // A client of HTTP/1.0 waits for no interim response: what it expects counts for nothing (RFC 9110 §10.1.1).
    let dropped: Set<FieldName> = head.minorVersion == 0 ? [.host, .expect] : [.host]
    appendFields(head, without: dropped, maxForwards: maxForwards, to: &bytes)
    // Trailers pass. Other transfer codings that a client accepts are of no use here (RFC 9110 §10.1.4).
    if head.minorVersion == 1, head.has("te", in: .connection), head.has("trailers", in: .te) {
      bytes += "Connection: TE\r\nTE: trailers\r\n".utf8
    }
    if let upgrade {
      bytes += "Connection: Upgrade\r\nUpgrade: ".utf8
      bytes += head.bytes[upgrade]
      bytes += "\r\n".utf8
    }
    bytes += "\r\n".utf8
    return bytes
  }

  /// A response as it goes to the client.
  ///
  /// - Parameters:
  ///   - head: the response.
  ///   - closes: whether the client's connection ends after it.
  ///   - isDecoded: whether it goes to a client of HTTP/1.0, for which a chunked body is decoded.
  ///   - date: when it came, for a response without `Date` (RFC 9110 §6.6.1); nil leaves it as it is.
  /// - Returns: the head, with its empty line.
  static func response(
    _ head: MessageHead, closes: Bool = false, isDecoded: Bool = false, date: String? = nil
  ) -> [UInt8] {
    guard case .response(let status, _) = head.start else { return [] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.bytes.count + 72)
    bytes += "HTTP/1.1".utf8
    // From after the version to the line's end.
    let lineEnd = head.bytes.firstIndex(of: 0x0a) ?? head.bytes.endIndex - 1
    bytes += head.bytes[8...lineEnd]
    var dropped: Set<FieldName> = []
    // Some clients wait for the body that such a response announces but cannot have (RFC 9112 §6.1; RFC 9110 §8.6).
    if isDecoded || BodyFraming.isBodiless(status) { dropped = [.transferEncoding, .trailer] }
    if status < 200 || status == 204 { dropped.insert(.contentLength) }
    // A repeated length is sent once.
    let lengths = dropped.contains(.contentLength) ? [] : head.values(.contentLength)
    if lengths.count > 1 { dropped.insert(.contentLength) }
    appendFields(head, without: dropped, maxForwards: nil, to: &bytes)
    if lengths.count > 1 {
      bytes += "Content-Length: ".utf8
      bytes += head.bytes[lengths[0]]
      bytes += "\r\n".utf8
    }
    // The protocol that was switched to, or is required (RFC 9110 §15.5.22).
    if status == 101 || status == 426 {
      for field in head.fields where field.name == .upgrade {
        bytes += "Connection: Upgrade\r\n".utf8
        bytes += head.bytes[field.line]
        bytes += "\r\n".utf8
      }
    }
    if status >= 200, let date, !head.contains(.date) { bytes += "Date: \(date)\r\n".utf8 }
    if status >= 200, closes { bytes += "Connection: close\r\n".utf8 }
    bytes += "\r\n".utf8
    return bytes
  }

  /// The protocols that a request wants to switch to; nil for none, and for h2c, whose settings are only for this hop.
  static func upgrade(_ head: MessageHead) -> Range<Int>? {
    guard head.minorVersion == 1, head.has("upgrade", in: .connection), let value = head.onlyValue(.upgrade),
      !value.isEmpty, !head.has("h2c", in: .upgrade)
    else { return nil }
    return value
  }

  private static func appendFields(
    _ head: MessageHead, without dropped: Set<FieldName>, maxForwards: Int?, to bytes: inout [UInt8]
  ) {
    let named = ConnectionNames(head)
    for field in head.fields {
      guard !field.name.isHopByHop, !dropped.contains(field.name) else { continue }
      if !field.name.isProtected, named.contains(field, of: head) { continue }
      if field.name == .maxForwards, let maxForwards {
        bytes += "Max-Forwards: \(maxForwards)\r\n".utf8
        continue
      }
      if let framing = framing(head, field) {
        bytes += framing.utf8
        continue
      }
      // The line with its end.
      bytes += head.bytes[field.line.lowerBound..<field.line.upperBound + 2]
    }
  }

  /// A framing field in the form that everybody reads alike: a tab, a leading zero or capitals mislead some.
  private static func framing(_ head: MessageHead, _ field: MessageHead.Field) -> String? {
    switch field.name {
    case .contentLength:
      BodyFraming.number(head.bytes.span.extracting(field.value)).map { "Content-Length: \($0)\r\n" }
    case .transferEncoding where BodyFraming.isChunkedAlone(head): "Transfer-Encoding: chunked\r\n"
    default: nil
    }
  }
}
