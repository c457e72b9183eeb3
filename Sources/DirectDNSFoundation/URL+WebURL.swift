// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
public import Foundation
public import HTTPTypes

extension URL {
  /// Creates the URL as Foundation has it; nil where Foundation would read another one, or none.
  ///
  /// - Parameter url: the URL.
  public init?(_ url: WebURL) {
    let text = url.rfc3986
    self.init(string: text)
    guard absoluteString == text else { return nil }
  }
}

extension WebURL {
  /// Creates the URL as the URL standard reads its text, in which Foundation may see another host.
  ///
  /// - Parameter url: the URL.
  /// - Throws: an error of code `invalidURL`, as `WebURL(_:)` does for a text.
  public init(_ url: URL) throws(DirectDNSError) { try self.init(url.absoluteString) }
}

extension DirectClient {
  /// Sends a GET request for a URL of Foundation's; as `get(_:headerFields:options:)` for its text.
  nonisolated(nonsending) public func get(
    _ url: URL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await get(WebURL(url), headerFields: headerFields, options: options)
  }

  /// Sends a HEAD request for a URL of Foundation's; as `head(_:headerFields:options:)` for its text.
  nonisolated(nonsending) public func head(
    _ url: URL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await head(WebURL(url), headerFields: headerFields, options: options)
  }

  /// Sends a body to a URL of Foundation's with POST; as `post(_:body:headerFields:options:)` for its text.
  nonisolated(nonsending) public func post(
    _ url: URL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await post(WebURL(url), body: body, headerFields: headerFields, options: options)
  }

  /// Sends a body to a URL of Foundation's with PUT; as `put(_:body:headerFields:options:)` for its text.
  nonisolated(nonsending) public func put(
    _ url: URL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await put(WebURL(url), body: body, headerFields: headerFields, options: options)
  }

  /// Sends a body to a URL of Foundation's with PATCH; as `patch(_:body:headerFields:options:)` for its text.
  nonisolated(nonsending) public func patch(
    _ url: URL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await patch(WebURL(url), body: body, headerFields: headerFields, options: options)
  }

  /// Sends a DELETE request for a URL of Foundation's; as `delete(_:headerFields:options:)` for its text.
  nonisolated(nonsending) public func delete(
    _ url: URL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await delete(WebURL(url), headerFields: headerFields, options: options)
  }
}

extension DirectDNSError {
  /// Foundation has no URL for one that was asked for, or led to.
  static func noFoundationURL(_ url: WebURL) -> DirectDNSError {
    DirectDNSError(.invalidURL, "Foundation cannot read the URL at \(Origin(url)): use another host, or DirectClient.")
  }
}
