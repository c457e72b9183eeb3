// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The common requests in a line each; ``DirectClient/execute(_:body:options:)`` does all others.
///
/// <doc:Requests> says which fields the client adds.
///
/// ```swift
/// let page = try await client.get("https://www.example.com/").body.text()
/// let status = try await client.post("https://hooks.example.com/", body: .text("paid")).status
/// ```
extension DirectClient {
  /// Asks for a URL with GET.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` URL.
  ///   - headerFields: the fields that are sent; none by default but what the client adds.
  ///   - options: what this request wants other than the client does.
  /// - Returns: the response, as soon as its head has come; whatever its status is.
  /// - Throws: `invalidURL`, or what ``execute(_:body:options:)`` throws.
  nonisolated(nonsending) public func get(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.get, WebURL(url), headerFields), .none, options)
  }

  /// Asks for a URL's header alone, with HEAD; as ``get(_:headerFields:options:)-(String,_,_)``.
  nonisolated(nonsending) public func head(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.head, WebURL(url), headerFields), .none, options)
  }

  /// Sends a body to a URL with POST, once.
  ///
  /// What is not idempotent is not retried on its own, unless the server has refused it unprocessed: <doc:Failover>.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` URL.
  ///   - body: what is sent; its ``RequestBody/contentType`` goes out unless the fields have one.
  ///   - headerFields: the fields that are sent; none by default but what the client adds.
  ///   - options: what this request wants other than the client does.
  /// - Returns: the response, as soon as its head has come; whatever its status is.
  /// - Throws: `invalidURL`, or what ``execute(_:body:options:)`` throws.
  nonisolated(nonsending) public func post(
    _ url: String, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.post, WebURL(url), headerFields), body, options)
  }

  /// Sends a body to a URL with PUT; as ``post(_:body:headerFields:options:)-(String,_,_,_)``, but it may be retried.
  nonisolated(nonsending) public func put(
    _ url: String, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.put, WebURL(url), headerFields), body, options)
  }

  /// Sends a body to a URL with PATCH (RFC 5789); as ``post(_:body:headerFields:options:)-(String,_,_,_)``: once.
  nonisolated(nonsending) public func patch(
    _ url: String, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.patch, WebURL(url), headerFields), body, options)
  }

  /// Deletes what a URL names, with DELETE; as ``get(_:headerFields:options:)-(String,_,_)``.
  nonisolated(nonsending) public func delete(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.delete, WebURL(url), headerFields), .none, options)
  }

  /// The same as ``get(_:headerFields:options:)-(String,_,_)``, of a URL that was read already.
  nonisolated(nonsending) public func get(
    _ url: WebURL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.get, url, headerFields), .none, options)
  }

  /// The same as ``head(_:headerFields:options:)-(String,_,_)``, of a URL that was read already.
  nonisolated(nonsending) public func head(
    _ url: WebURL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.head, url, headerFields), .none, options)
  }

  /// The same as ``post(_:body:headerFields:options:)-(String,_,_,_)``, of a URL that was read already.
  nonisolated(nonsending) public func post(
    _ url: WebURL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.post, url, headerFields), body, options)
  }

  /// The same as ``put(_:body:headerFields:options:)-(String,_,_,_)``, of a URL that was read already.
  nonisolated(nonsending) public func put(
    _ url: WebURL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.put, url, headerFields), body, options)
  }

  /// The same as ``patch(_:body:headerFields:options:)-(String,_,_,_)``, of a URL that was read already.
  nonisolated(nonsending) public func patch(
    _ url: WebURL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.patch, url, headerFields), body, options)
  }

  /// The same as ``delete(_:headerFields:options:)-(String,_,_)``, of a URL that was read already.
  nonisolated(nonsending) public func delete(
    _ url: WebURL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.delete, url, headerFields), .none, options)
  }
}
