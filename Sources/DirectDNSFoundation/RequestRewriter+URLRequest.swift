// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension RequestRewriter {
  /// Rewrites a request of `URLSession` to go straight to an address.
  ///
  /// It takes the literal form, whatever ``DirectDNS/RequestRewriter/form`` says: the URL is all that `URLSession` can be told.
  /// Of the request only the URL, `Host`, `originalUrl`, `Authorization` (where the URL has user info),
  /// `Proxy-Authorization` and `httpShouldHandleCookies` change; method, body, stream, timeouts and cache policy are as they were.
  ///
  /// `httpShouldHandleCookies` is turned off, since `URLSession` would file cookies under the address: keep them in a
  /// ``DirectDNS/CookieJar`` and set the `Cookie` field of the rewritten request. On Linux `URLSession` does not heed it: use
  /// a configuration whose `httpCookieStorage` is nil. Turn its redirects off too (the session's delegate, on Linux not
  /// the task's, answers nil to `urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`) and follow them with
  /// ``DirectDNS/Redirect``.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - answer: the addresses of the URL's host, in the order of use, such as a resolution's.
  ///   - throughProxy: whether the session uses a proxy, which is left to connect by name.
  ///   - secure: what becomes of requests over TLS; refused by default.
  /// - Returns: the request to send, or why it is left as it is, or why it must not be sent.
  public func rewrite(
    _ request: URLRequest, using answer: some Sequence<IPAddress>, throughProxy: Bool = false,
    secure: SecureURLRequests = .refused
  ) -> URLRequestOutcome {
    guard let text = request.url?.absoluteString else {
      return .refused(DirectDNSError(.invalidRequest, "The request has no URL: make it with URLRequest(url:)."))
    }
    var bypassed = request
    bypassed.setValue(nil, forHTTPHeaderField: HTTPField.Name.originalURL.rawName)
    let scheme = request.url?.scheme?.lowercased() ?? ""
    guard WebURL.Scheme(rawValue: scheme) != nil else {
      return .bypassed(bypassed, reason: .otherScheme)
    }
    var literal = self
    literal.form = .literal
    do throws(DirectDNSError) {
      let url = try WebURL(text)
      // Foundation's parser has its own ideas of hosts: what it connects to must be what was judged.
      guard let read = URL(url) else { throw .noFoundationURL(url) }
      bypassed.url = read
      let method = HTTPRequest.Method(request.httpMethod ?? "GET") ?? .get
      switch literal.rewrite(
        HTTPRequest(method: method, url: url, headerFields: Self.named(in: request)), using: answer,
        throughProxy: throughProxy)
      {
      case .refused(let error): throw error
      // What was rewritten before needs its originalUrl.
      case .bypassed(_, .alreadyRewritten):
        var same = request
        same.url = read
        return .bypassed(same, reason: .alreadyRewritten)
      case .bypassed(_, let reason): return .bypassed(bypassed, reason: reason)
      case .direct(let direct):
        if url.scheme.isSecure, secure != .byAddress {
          if secure == .byName { return .bypassed(bypassed, reason: .secureByName) }
          throw DirectDNSError(
            .invalidRequest,
            "URLSession checks the certificate of \(url.host) against the URL's host, and that would be \(direct.address): send the request by name (secure: .byName), or by a client that can be told the name."
          )
        }
        return .direct(try Self.moved(request, direct), direct)
      }
    } catch {
      return .refused(error)
    }
  }

  /// The fields that rewriting goes by.
  private static func named(in request: URLRequest) -> HTTPFields {
    var fields = HTTPFields()
    for name in [HTTPField.Name.hostField, .authorization, .originalURL] {
      fields[name] = request.value(forHTTPHeaderField: name.rawName)
    }
    return fields
  }

  private static func moved(_ request: URLRequest, _ direct: DirectRequest) throws(DirectDNSError) -> URLRequest {
    guard let url = URL(direct.url) else { throw .noFoundationURL(direct.originalURL) }
    var moved = request
    moved.url = url
    for name in [HTTPField.Name.hostField, .authorization, .originalURL] {
      moved.setValue(direct.request.headerFields[name], forHTTPHeaderField: name.rawName)
    }
    moved.setValue(nil, forHTTPHeaderField: HTTPField.Name.proxyAuthorization.rawName)
    moved.httpShouldHandleCookies = false
    return moved
  }
}
