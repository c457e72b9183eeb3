internal import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// A `URLRequest` as the client takes it.
///
/// It has the fields that a session without the protocol would add, and has them where such a session does.
struct OutgoingRequest: Sendable {
  var head: HTTPRequest
  var body = RequestBody.none
  var bodyKind = Redirect.Body.none

  init(_ request: URLRequest, _ route: LoadingRoute, userAgent: String?) throws(DirectDNSError) {
    guard let url = request.url else { throw DirectDNSError(.invalidRequest, "the request has no URL") }
    guard let method = HTTPRequest.Method(request.httpMethod ?? "GET") else {
      throw DirectDNSError(.invalidRequest, "the request's method is no word that HTTP has room for")
    }
    if let bytes = request.httpBody, !bytes.isEmpty {
      body = .bytes(Array(bytes))
      bodyKind = .replayable
    } else if let stream = request.httpBodyStream {
      body = .stream(BodyStream(stream))
      bodyKind = .oneShot
    }
    var fields = try Self.fields(request)
    for field in route.additionalFields where fields[field.name] == nil { fields.append(field) }
    if fields[.accept] == nil { fields.insert(HTTPField(name: .accept, value: "*/*"), at: fields.startIndex) }
    if fields[.userAgent] == nil { fields[.userAgent] = userAgent }
    if fields[.acceptLanguage] == nil { fields[.acceptLanguage] = Locale.current.language.languageCode?.identifier }
    if method == .post, bodyKind != .none, fields[.contentType] == nil {
      fields[.contentType] = "application/x-www-form-urlencoded"
    }
    head = HTTPRequest(method: method, url: try WebURL(url.absoluteString), headerFields: fields)
  }

  /// The request's own fields, in an order that is always the same: Foundation has none.
  private static func fields(_ request: URLRequest) throws(DirectDNSError) -> HTTPFields {
    var fields = HTTPFields()
    for (text, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key.lowercased() < $1.key.lowercased() })
    {
      guard let name = HTTPField.Name(text), HTTPField.isValidValue(value) else {
        throw DirectDNSError(
          .invalidRequest, "the request has a header field that HTTP has no room for: look at its name and value")
      }
      fields.append(HTTPField(name: name, value: value))
    }
    return fields
  }

  /// The request after a redirect.
  mutating func follow(_ redirect: Redirect) {
    head = redirect.request
    if !redirect.keepsBody {
      body = .none
      bodyKind = .none
    }
  }
}
