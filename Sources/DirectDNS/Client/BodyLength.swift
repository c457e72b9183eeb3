// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Checks what a request's fields say about the length of its body.
///
/// With a wrong length a server would take the next request for the rest of this one, or wait for bytes that never
/// come.
enum BodyLength {
  /// Checks `Content-Length` and `Transfer-Encoding` against the body.
  ///
  /// - Returns: the body's length, or that of the field if the body has none; nil if it is not known.
  static func check(_ request: ClientRequest, _ body: RequestBody) throws(DirectDNSError) -> Int64? {
    let known = length(of: body)
    if let known, known < 0 {
      throw DirectDNSError(
        .invalidRequest, "The body's length is given as \(known): give the number of its bytes, or none.")
    }
    let (method, fields) = (request.method, request.fields)
    // RFC 9110 §9.3.8 forbids it for TRACE, whose response would repeat it.
    if method == .head || method == .trace, body.kind != .none {
      throw DirectDNSError(
        .invalidRequest, "A \(method.rawValue) request has no body: leave it out, or use another method.")
    }
    guard method != .connect else {
      throw DirectDNSError(.invalidRequest, "CONNECT is for proxies: name the proxy in the client's configuration.")
    }
    guard !fields.isEmpty else { return known }
    if let coding = fields[.transferEncoding] {
      guard coding.lowercased() == "chunked", body.kind != .none else {
        throw DirectDNSError(
          .invalidRequest, "Transfer-Encoding is the client's to set: leave it out, and give a body without a length.")
      }
    }
    guard let text = fields[.contentLength] else { return known }
    // Digits alone (RFC 9110 §8.6): `Int64` takes a sign.
    guard text.utf8.allSatisfy(ASCII.isDigit), let announced = Int64(text) else {
      throw DirectDNSError(.invalidRequest, "Content-Length is not a number of bytes: leave it out.")
    }
    guard let known else { return announced }
    guard announced == known else {
      throw DirectDNSError(
        .invalidRequest, "Content-Length says \(announced), and the body has \(known) bytes: leave the field out.")
    }
    return known
  }

  private static func length(of body: RequestBody) -> Int64? {
    switch body.content {
    case .none: 0
    case .bytes(let bytes): Int64(bytes.count)
    case .source(_, let length, _): length
    }
  }
}
