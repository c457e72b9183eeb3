// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
public import HTTPTypes

#if canImport(FoundationNetworking)
  public import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// The response of a session that goes direct, with what `HTTPURLResponse` has no place for.
///
/// ```swift
/// let (data, response) = try await session.data(from: url)
/// for redirect in (response as? DirectURLResponse)?.history ?? [] { print(redirect.statusCode, redirect.url) }
/// ```
public final class DirectURLResponse: HTTPURLResponse, @unchecked Sendable {
  // Safe to share: what it adds to its superclass, which says so of itself, are constants.

  /// The responses that redirected here, the first one first; on Apple's systems the delegate is shown them instead.
  public let history: [DirectURLResponse]
  /// The header fields as they came, several of one name apart and in their order.
  public let headerFields: HTTPFields
  /// The connection that it came over.
  public let connection: ConnectionDetails
  /// How fresh the answer was that named the address; nil for an address literal and through a proxy.
  public let resolution: Resolution?
  /// How long it took, up to the head: the last hop's.
  public let timings: RequestTimings

  init?(_ response: DirectResponse, url: URL, history: [DirectURLResponse]) {
    self.history = history
    headerFields = response.headerFields
    connection = response.connection
    resolution = response.resolution
    timings = response.timings
    super.init(
      url: url, statusCode: response.status.code,
      httpVersion: response.connection.httpVersion == .http2 ? "HTTP/2" : "HTTP/1.1",
      headerFields: Self.fields(response))
  }

  /// Always nothing: where a response came from is not archived.
  public required init?(coder: NSCoder) { nil }

  /// Fields of one name become one, as Foundation has it.
  private static func fields(_ response: DirectResponse) -> [String: String] {
    var names: [String: String] = [:]
    var fields: [String: String] = [:]
    for field in response.headerFields {
      let name = names[field.name.canonicalName, default: field.name.rawName]
      names[field.name.canonicalName] = name
      fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
    }
    #if !canImport(Darwin)
      // Foundation on Linux answers a Basic challenge by a request of its own, which looks the name up by the system's
      // DNS and asks no policy; without credentials it waits for ever. It does not see one after an empty element,
      // which a list may begin with (RFC 9110 §5.6.1).
      if response.status.code == 401, let name = names["www-authenticate"], let value = fields[name] {
        fields[name] = ", \(value)"
      }
    #endif
    return fields
  }
}
