// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension Redirect {
  /// The next request of a `URLSession` whose own redirects are turned off.
  ///
  /// The rules are those of ``DirectDNS/Redirect/next(after:to:body:hops:configuration:)``. Timeouts, cache policy and all else
  /// that a redirect does not change are taken over.
  ///
  /// - Parameters:
  ///   - response: the response, with names and not addresses in its `Location`; see ``DirectDNS/ResponseRestorer``.
  ///   - request: the request that it answers, as it was before it was rewritten and before a jar added cookies.
  ///   - hops: how many redirects were followed before this one.
  ///   - configuration: the rules.
  /// - Returns: the next request; nil when the response is what the caller gets.
  /// - Throws: `tooManyRedirects`, `redirectRefused`, `bodyNotReplayable` for a stream that is needed again,
  ///   `invalidURL` for a target that Foundation has no URL for.
  public static func next(
    after response: HTTPURLResponse, to request: URLRequest, hops: Int,
    configuration: RedirectConfiguration = RedirectConfiguration()
  ) throws(DirectDNSError) -> URLRequest? {
    var head = HTTPResponse(status: HTTPResponse.Status(code: response.statusCode))
    if let location = response.value(forHTTPHeaderField: "Location") { head.headerFields[.location] = location }
    let redirect = try next(
      after: head, to: HTTPRequest(request), body: Body(of: request), hops: hops, configuration: configuration)
    return try redirect.map { (redirect) throws(DirectDNSError) in try request.following(redirect) }
  }
}

extension URLRequest {
  /// The request after a redirect, which takes over what that does not change.
  func following(_ redirect: Redirect) throws(DirectDNSError) -> URLRequest {
    guard let url = URL(redirect.url) else { throw .noFoundationURL(redirect.url) }
    var next = self
    next.url = url
    next.httpMethod = redirect.request.method.rawValue
    let fields = redirect.request.headerFields
    for name in (allHTTPHeaderFields ?? [:]).keys {
      next.setValue(HTTPField.Name(name).flatMap { fields[$0] }, forHTTPHeaderField: name)
    }
    if !redirect.keepsBody {
      next.httpBody = nil
      next.httpBodyStream = nil
    }
    return next
  }
}
