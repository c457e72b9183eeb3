// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Whether what a request says of its body's length is true: a server that believes a false one takes the next request
/// for the rest of this one, or waits for what never comes.
enum BodyLength {
  /// Checks `Content-Length` and `Transfer-Encoding` against the body.
  ///
  /// - Returns: the body's length; the field's where the body does not know its own; nil for one that is not known.
  static func check(_ request: HTTPRequest, _ body: RequestBody) throws(DirectDNSError) -> Int64? {
    let known = length(of: body)
    let (method, fields) = (request.method, request.headerFields)
    if method == .head, body.kind != .none {
      throw DirectDNSError(.invalidRequest, "a HEAD request has no body: leave it out, or use another method")
    }
    guard method != .connect else {
      throw DirectDNSError(.invalidRequest, "CONNECT is for proxies: name the proxy in the client's configuration")
    }
    guard !fields.isEmpty else { return known }
    if let coding = fields[.transferEncoding] {
      guard coding.lowercased() == "chunked", body.kind != .none else {
        throw DirectDNSError(
          .invalidRequest, "Transfer-Encoding is the client's to set: leave it out, and give a body without a length")
      }
    }
    guard let text = fields[.contentLength] else { return known }
    // Digits alone (RFC 9110 §8.6): `Int64` takes a sign.
    guard text.utf8.allSatisfy(ASCII.isDigit), let told = Int64(text) else {
      throw DirectDNSError(.invalidRequest, "Content-Length is no number of bytes: leave it out")
    }
    guard let known else { return told }
    guard told == known else {
      throw DirectDNSError(
        .invalidRequest, "Content-Length says \(told), and the body has \(known) bytes: leave the field out")
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
