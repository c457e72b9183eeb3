// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// What the tasks of a session go by: a client, and what the session's configuration says.
///
/// Foundation tells a protocol nothing of its session, so this is read off the configuration before there is one.
struct LoadingRoute: Sendable {
  /// The client, or why there is none.
  let client: Result<DirectClient, DirectDNSError>
  /// Where cookies are kept; nil for a session that keeps none.
  let cookies: HTTPCookieStorage?
  let cookiePolicy: HTTPCookie.AcceptPolicy
  let sendsCookies: Bool
  /// Fields of requests that have none of the same name.
  let additionalFields: HTTPFields
  let requestTimeout: TimeInterval
  let resourceTimeout: TimeInterval
  /// Whether a delegate gets a body piece by piece.
  let streamsToDelegate: Bool

  init(
    _ client: Result<DirectClient, DirectDNSError>, _ configuration: URLSessionConfiguration, streamsToDelegate: Bool
  ) {
    self.client = client
    cookies = configuration.httpCookieStorage
    cookiePolicy = configuration.httpCookieAcceptPolicy
    sendsCookies = configuration.httpShouldSetCookies
    additionalFields = HTTPFields(
      (configuration.httpAdditionalHeaders ?? [:]).compactMap { name, value in
        guard let name = HTTPField.Name("\(name)") else { return nil }
        return HTTPField(name: name, value: "\(value)")
      }.sorted { $0.name.canonicalName < $1.name.canonicalName })
    requestTimeout = configuration.timeoutIntervalForRequest
    resourceTimeout = configuration.timeoutIntervalForResource
    self.streamsToDelegate = streamsToDelegate
  }

  /// Whether requests to a URL are the client's.
  func takes(_ url: URL) -> Bool {
    guard case .success(let client) = client else { return true }
    let direct = client.configuration.direct
    // What is no URL that could be sent is taken, and refused with the reason.
    guard direct != .on, let url = try? WebURL(url.absoluteString) else { return true }
    return direct.isOn(for: url.host)
  }

  /// What plain ``DirectURLProtocol`` goes by: Foundation's defaults and a client of its own.
  static let standard = LoadingRoute(
    Result { () throws(DirectDNSError) in try DirectClient() }, .default, streamsToDelegate: false)
}
