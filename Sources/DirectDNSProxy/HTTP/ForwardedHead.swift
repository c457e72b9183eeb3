// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A head as it goes to the next hop (RFC 9110 §7.6): the bytes that came, without what was for this hop alone.
enum ForwardedHead {
  /// A request as it goes to its origin.
  ///
  /// - Parameters:
  ///   - head: the request.
  ///   - origin: where it goes; its name is what `Host` says, whatever the field said.
  ///   - path: what is asked for.
  ///   - authorization: the value of `Authorization` where the request has none and its URL has user info.
  ///   - maxForwards: what the field says now; nil leaves it as it is.
  ///   - upgrades: whether it may switch to another protocol: not behind a body.
  ///   - upstream: the proxy that it goes to, which is told the whole URL; nil for the origin itself.
  ///   - via: the proxies that such a proxy is told of.
  /// - Returns: the head, its empty line included.
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
    // OPTIONS * is a URL without a path to a proxy (RFC 9112 §3.2.4).
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
    appendFields(head, without: [.host], maxForwards: maxForwards, to: &bytes)
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
  ///   - closes: whether the client's connection ends behind it.
  ///   - isUnwrapped: whether it goes to a client of HTTP/1.0, which gets a body in chunks without them.
  /// - Returns: the head, its empty line included.
  static func response(_ head: MessageHead, closes: Bool = false, isUnwrapped: Bool = false) -> [UInt8] {
    guard case .response(let status, _) = head.start else { return [] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.bytes.count + 32)
    bytes += "HTTP/1.1".utf8
    // From behind the version to the line's end.
    let lineEnd = head.bytes.firstIndex(of: 0x0a) ?? head.bytes.endIndex - 1
    bytes += head.bytes[8...lineEnd]
    var dropped: Set<FieldName> = []
    // Some clients wait for what a response without a body announces (RFC 9112 §6.1; RFC 9110 §8.6).
    if isUnwrapped || BodyFraming.isBodiless(status) { dropped = [.transferEncoding, .trailer] }
    if status < 200 || status == 204 { dropped.insert(.contentLength) }
    // Said several times alike it is said once.
    let lengths = dropped.contains(.contentLength) ? [] : head.values(.contentLength)
    if lengths.count > 1 { dropped.insert(.contentLength) }
    appendFields(head, without: dropped, maxForwards: nil, to: &bytes)
    if lengths.count > 1 {
      bytes += "Content-Length: ".utf8
      bytes += head.bytes[lengths[0]]
      bytes += "\r\n".utf8
    }
    // What was switched to, or is wanted (RFC 9110 §15.5.22).
    if status == 101 || status == 426 {
      for field in head.fields where field.name == .upgrade {
        bytes += "Connection: Upgrade\r\n".utf8
        bytes += head.bytes[field.line]
        bytes += "\r\n".utf8
      }
    }
    if status >= 200, closes { bytes += "Connection: close\r\n".utf8 }
    bytes += "\r\n".utf8
    return bytes
  }

  /// The protocols that a request wants to switch to; nil for one that does not, and for what the next hop could not know.
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

  /// What frames a message as everybody reads it: a tab, a zero ahead or capitals lead some astray.
  private static func framing(_ head: MessageHead, _ field: MessageHead.Field) -> String? {
    switch field.name {
    case .contentLength:
      BodyFraming.number(head.bytes.span.extracting(field.value)).map { "Content-Length: \($0)\r\n" }
    case .transferEncoding where BodyFraming.isChunkedAlone(head): "Transfer-Encoding: chunked\r\n"
    default: nil
    }
  }
}
