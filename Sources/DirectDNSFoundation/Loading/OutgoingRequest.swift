// SPDX-License-Identifier: Apache-2.0
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
  private(set) var head: HTTPRequest
  private(set) var body: RequestBody
  private(set) var bodyKind: Redirect.Body
  /// Whether the client's certificate may be shown: a credential, which stays with its origin.
  private(set) var showsIdentity = true

  init(_ request: URLRequest, _ route: LoadingRoute, _ cookies: SessionCookies, userAgent: String?)
    throws(DirectDNSError)
  {
    bodyKind = Redirect.Body(of: request)
    switch (bodyKind, request.httpBody, request.httpBodyStream) {
    case (.replayable, let bytes?, _): body = .bytes(Array(bytes))
    case (.oneShot, _, let stream?): body = try .stream(BodyStream(stream))
    default: body = .none
    }
    head = try HTTPRequest(request)
    // Foundation has put the session's cookies there when it made the task; they are chosen for each hop.
    if cookies.arePresent(for: request.url) { head.headerFields[.cookie] = nil }
    for field in route.additionalFields where head.headerFields[field.name] == nil { head.headerFields.append(field) }
    addFields(userAgent: userAgent)
  }

  private mutating func addFields(userAgent: String?) {
    var fields = head.headerFields
    if fields[.accept] == nil { fields.insert(HTTPField(name: .accept, value: "*/*"), at: fields.startIndex) }
    if fields[.userAgent] == nil { fields[.userAgent] = userAgent }
    if fields[.acceptLanguage] == nil { fields[.acceptLanguage] = Locale.current.language.languageCode?.identifier }
    if head.method == .post, bodyKind != .none, fields[.contentType] == nil {
      fields[.contentType] = "application/x-www-form-urlencoded"
    }
    head.headerFields = fields
  }

  /// Becomes the request after a redirect.
  mutating func follow(_ redirect: Redirect) {
    head = redirect.request
    if redirect.crossesOrigin { showsIdentity = false }
    if !redirect.keepsBody {
      body = .none
      bodyKind = .none
    }
  }
}
