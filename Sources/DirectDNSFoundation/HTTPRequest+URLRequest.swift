// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

extension HTTPRequest {
  /// The head of a request of `URLSession`: its fields are sorted by name, since Foundation keeps them in no order.
  init(_ request: URLRequest) throws(DirectDNSError) {
    guard let url = request.url else {
      throw DirectDNSError(.invalidRequest, "The request has no URL: make it with URLRequest(url:).")
    }
    guard let method = Method(request.httpMethod ?? "GET") else {
      throw DirectDNSError(.invalidRequest, "The request's method is not a token (RFC 9110 §9.1): use another.")
    }
    var fields = HTTPFields()
    let given = request.allHTTPHeaderFields ?? [:]
    for (text, written) in given.sorted(by: { $0.key.lowercased() < $1.key.lowercased() }) {
      // Blanks around a value are no part of it (RFC 9110 §5.5).
      let value = String(written[...].trimmed)
      guard let name = HTTPField.Name(text), HTTPField.isValidValue(value) else {
        throw DirectDNSError(
          .invalidRequest, "The request has a header field whose name or value has a character that none may have.")
      }
      fields.append(HTTPField(name: name, value: value))
    }
    self.init(method: method, url: try WebURL(url.absoluteString), headerFields: fields)
  }
}

extension Redirect.Body {
  /// What a request of `URLSession` has for a body.
  init(of request: URLRequest) {
    if let bytes = request.httpBody, !bytes.isEmpty {
      self = .replayable
    } else {
      self = request.httpBodyStream == nil ? .none : .oneShot
    }
  }
}
