// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
public import HTTPTypes

/// One request as a ``FakeProvider`` or a ``FakeOrigin`` received it.
public struct RecordedRequest: Sendable {
  /// The request's place in the order of arrival, from 1.
  public let number: Int
  /// The number of the connection that it came on, from 1.
  public let connection: Int
  /// The request's place among those of its connection, from 1: above 1 the connection was reused.
  public let numberOnConnection: Int
  /// The version of HTTP.
  public let version: HTTPProtocolVersion
  /// The name in TLS's SNI; nil without TLS, or if the client sent none, as it must not for an address.
  public let serverName: String?
  /// The client's address.
  public let client: String
  /// The client's port, another one for each connection that is open.
  public let clientPort: Int
  /// The method.
  public let method: HTTPRequest.Method
  /// The path and the query, percent-encoded as they came.
  public let target: String
  /// The path, percent-encoded as it came, without the query.
  public let path: String
  /// The query, percent-decoded, in its order.
  public let query: [QueryItem]
  /// The header fields, `Host` included; for HTTP/2 that is `:authority`.
  public let fields: HTTPFields
  /// The request line and the header fields byte for byte, with the empty line after them.
  ///
  /// Empty for HTTP/2, and for a request that was sent before the previous one was answered.
  public let rawHead: [UInt8]
  /// The body, or its first bytes if the server keeps no more.
  public let body: [UInt8]
  /// How many bytes of body came, kept or not.
  public let bodyLength: Int64
  /// SHA-256 of the whole body, kept or not, as lower-case hexadecimal digits.
  public let bodyHash: String
  /// The trailer fields.
  public let trailers: HTTPFields
  /// The questions to a provider: every name with every type.
  ///
  /// Empty when it could not be read, and for an origin.
  public internal(set) var questions: [DNSQuestion] = []

  /// The first name asked for, without its final dot.
  public var name: String? { questions.first?.name.text }

  /// The first type asked for.
  public var type: DNSRecordType? { questions.first?.type }

  /// The `Host` field, or `:authority`.
  public var host: String? { field("Host") }

  /// The value of the first query item of that name.
  public func value(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The value of a header field, by a name of any case.
  public func field(_ name: String) -> String? {
    HTTPField.Name(name).flatMap { fields[$0] }
  }
}
