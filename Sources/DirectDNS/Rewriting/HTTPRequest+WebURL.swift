// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPRequest {
  /// A request for a URL.
  ///
  /// `scheme`, `authority` and `path` hold all parts of the URL: ``WebURL/init(_:)-(HTTPRequest)`` gives the URL back.
  /// User info and fragment are removed when the request is rewritten or sent.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - url: where the request goes.
  ///   - headerFields: further fields; empty by default.
  public init(method: Method = .get, url: WebURL, headerFields: HTTPFields = [:]) {
    let path = url.fragment.map { url.requestTarget + "#" + $0 } ?? url.requestTarget
    self.init(
      method: method, scheme: url.scheme.rawValue, authority: url.authority, path: path, headerFields: headerFields)
  }
}

extension WebURL {
  /// The URL that a request is for: its scheme, authority and path.
  ///
  /// - Parameter request: the request; its `path` may hold a fragment and its `authority` user info.
  /// - Throws: `invalidURL` if one of the three is missing or malformed, or the scheme is not http, https, ws or wss.
  public init(_ request: HTTPRequest) throws(DirectDNSError) {
    guard let scheme = request.scheme, let authority = request.authority, let path = request.path else {
      let part = request.scheme == nil ? "scheme" : request.authority == nil ? "authority" : "path"
      throw DirectDNSError(
        .invalidURL, "The request has no \(part): make it with HTTPRequest(method:url:headerFields:).")
    }
    // A scheme with more in it, such as a host and a question mark, would make a path of the authority.
    guard (WebURL.Scheme(rawValue: scheme) ?? WebURL.Scheme(rawValue: scheme.lowercased())) != nil else {
      throw DirectDNSError(
        .invalidURL,
        "The request's scheme \(DirectDNSError.quoted(scheme)) is not supported: use http or https, "
          + "or ws or wss for a WebSocket.")
    }
    // Bytes that the parser skips, or at which it ends the authority, must not turn a part of the path into the host.
    let isWhole =
      !authority.isEmpty
      && !authority.utf8.contains { byte in
        byte <= 0x20 || byte == ASCII.slash || byte == ASCII.backslash || byte == ASCII.question || byte == ASCII.hash
      }
    guard isWhole else {
      throw DirectDNSError(.invalidURL, "The request's authority must be a host and at most a port, such as host:8080.")
    }
    guard path.utf8.first == ASCII.slash else {
      throw DirectDNSError(.invalidURL, "The request's path must begin with a slash.")
    }
    var text = ""
    text.reserveCapacity(scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count)
    text += scheme
    text += "://"
    text += authority
    text += path
    try self.init(text)
  }
}
