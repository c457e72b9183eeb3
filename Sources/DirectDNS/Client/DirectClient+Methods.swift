// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The common requests in a line each; ``DirectClient/execute(_:body:options:)`` does all others.
///
/// ```swift
/// let page = try await client.get("https://www.example.com/").body.text()
/// try await client.post("https://hooks.example.com/", .text("paid"))
/// ```
extension DirectClient {
  /// Asks for a URL with GET.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` URL.
  ///   - headerFields: what is sent beside `Host` and `User-Agent`; nothing by default.
  ///   - options: what this request wants other than the client does.
  /// - Returns: the response, as soon as its head has come; whatever its status is.
  /// - Throws: `invalidURL`, or what ``execute(_:body:options:)`` throws.
  nonisolated(nonsending) public func get(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(
      HTTPRequest(method: .get, url: WebURL(url), headerFields: headerFields), options: options)
  }

  /// Asks for a URL's header alone, with HEAD; as ``get(_:headerFields:options:)``.
  nonisolated(nonsending) public func head(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(
      HTTPRequest(method: .head, url: WebURL(url), headerFields: headerFields), options: options)
  }

  /// Sends a body to a URL with POST, once: what is not idempotent is not repeated on its own.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` URL.
  ///   - body: what is sent; its ``RequestBody/contentType`` goes out unless the fields have one.
  ///   - headerFields: what is sent beside `Host` and `User-Agent`; nothing by default.
  ///   - options: what this request wants other than the client does.
  /// - Returns: the response, as soon as its head has come; whatever its status is.
  /// - Throws: `invalidURL`, or what ``execute(_:body:options:)`` throws.
  @discardableResult
  nonisolated(nonsending) public func post(
    _ url: String, _ body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(
      HTTPRequest(method: .post, url: WebURL(url), headerFields: headerFields), body: body, options: options)
  }

  /// Sends a body to a URL with PUT; as ``post(_:_:headerFields:options:)``, but it may be repeated.
  @discardableResult
  nonisolated(nonsending) public func put(
    _ url: String, _ body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(
      HTTPRequest(method: .put, url: WebURL(url), headerFields: headerFields), body: body, options: options)
  }

  /// Deletes what a URL names, with DELETE; as ``get(_:headerFields:options:)``.
  @discardableResult
  nonisolated(nonsending) public func delete(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(
      HTTPRequest(method: .delete, url: WebURL(url), headerFields: headerFields), options: options)
  }
}
