// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The common requests in one line each; ``DirectClient/execute(_:body:options:)`` does all others.
///
/// <doc:Requests> says which fields the client adds.
///
/// ```swift
/// let page = try await client.get("https://www.example.com/").body.text()
/// let status = try await client.post("https://hooks.example.com/", body: .text("paid")).status
/// ```
extension DirectClient {
  /// Sends a GET request.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` URL.
  ///   - headerFields: the request's header fields; none by default.
  ///   - options: options of this request, which override the client's configuration.
  /// - Returns: the response, whatever its status, as soon as its head has come.
  /// - Throws: `invalidURL`, or what ``execute(_:body:options:)`` throws.
  nonisolated(nonsending) public func get(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.get, WebURL(url), headerFields), .none, options)
  }

  /// Sends a HEAD request, whose response has no body; as ``get(_:headerFields:options:)-(String,_,_)``.
  nonisolated(nonsending) public func head(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.head, WebURL(url), headerFields), .none, options)
  }

  /// Sends a POST request.
  ///
  /// Once it may have reached the server it is not sent again, unless ``RequestOptions/isSafeToRetry`` says that it may
  /// be: <doc:Failover>.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` URL.
  ///   - body: the body; its ``RequestBody/contentType`` is sent unless the header fields have one.
  ///   - headerFields: the request's header fields; none by default.
  ///   - options: options of this request, which override the client's configuration.
  /// - Returns: the response, whatever its status, as soon as its head has come.
  /// - Throws: `invalidURL`, or what ``execute(_:body:options:)`` throws.
  nonisolated(nonsending) public func post(
    _ url: String, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.post, WebURL(url), headerFields), body, options)
  }

  /// Sends a PUT request; as ``post(_:body:headerFields:options:)-(String,_,_,_)``, but it may be retried.
  nonisolated(nonsending) public func put(
    _ url: String, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.put, WebURL(url), headerFields), body, options)
  }

  /// Sends a PATCH request (RFC 5789), by the rules of ``post(_:body:headerFields:options:)-(String,_,_,_)``.
  nonisolated(nonsending) public func patch(
    _ url: String, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.patch, WebURL(url), headerFields), body, options)
  }

  /// Sends a DELETE request without a body; as ``get(_:headerFields:options:)-(String,_,_)``.
  nonisolated(nonsending) public func delete(
    _ url: String, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.delete, WebURL(url), headerFields), .none, options)
  }

  /// As ``get(_:headerFields:options:)-(String,_,_)``, for a parsed URL.
  nonisolated(nonsending) public func get(
    _ url: WebURL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.get, url, headerFields), .none, options)
  }

  /// As ``head(_:headerFields:options:)-(String,_,_)``, for a parsed URL.
  nonisolated(nonsending) public func head(
    _ url: WebURL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.head, url, headerFields), .none, options)
  }

  /// As ``post(_:body:headerFields:options:)-(String,_,_,_)``, for a parsed URL.
  nonisolated(nonsending) public func post(
    _ url: WebURL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.post, url, headerFields), body, options)
  }

  /// As ``put(_:body:headerFields:options:)-(String,_,_,_)``, for a parsed URL.
  nonisolated(nonsending) public func put(
    _ url: WebURL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.put, url, headerFields), body, options)
  }

  /// As ``patch(_:body:headerFields:options:)-(String,_,_,_)``, for a parsed URL.
  nonisolated(nonsending) public func patch(
    _ url: WebURL, body: RequestBody, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.patch, url, headerFields), body, options)
  }

  /// As ``delete(_:headerFields:options:)-(String,_,_)``, for a parsed URL.
  nonisolated(nonsending) public func delete(
    _ url: WebURL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions()
  ) async throws(DirectDNSError) -> DirectResponse {
    try await execute(ClientRequest(.delete, url, headerFields), .none, options)
  }
}
