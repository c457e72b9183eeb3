// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A response of a ``FakeOrigin``.
public struct OriginResponse: Hashable, Sendable {
  /// The informational responses that are sent first, such as `103 Early Hints`.
  ///
  /// If one of them has a status that is not 1xx, or is 101, the connection is closed instead of the response.
  public var informational: [HTTPResponse] = []
  /// The status; after 1xx, except 101, nothing more is sent, and the connection is closed.
  public var status: HTTPResponse.Status
  /// The fields, sent in this order, repeated ones too.
  ///
  /// `Content-Length` is added unless it or `Transfer-Encoding` is one of them, the length is unknown, or there are
  /// trailers. `Connection: close` closes an HTTP/1.1 connection after the response.
  public var fields: HTTPFields
  /// The trailer fields.
  public var trailers: HTTPFields = [:]
  /// Whether the connection is closed after the response, although nothing in the response says so.
  ///
  /// This makes a connection stale that the client has kept. Default: false.
  public var hangsUp = false
  /// Whether an HTTP/2 stream whose request has not ended is reset with the response (`NO_ERROR`, RFC 9113 §8.1).
  ///
  /// Servers do that when they answer a request without its body. Default: false.
  public var resetsStream = false

  var content: OriginContent

  /// The body, which is not sent in answer to `HEAD`.
  ///
  /// Empty if it is written in pieces.
  public var body: [UInt8] {
    get { if case .bytes(let bytes) = content { bytes } else { [] } }
    set { content = .bytes(newValue) }
  }

  private init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ content: OriginContent) {
    self.status = status
    self.fields = fields
    self.content = content
  }

  /// Creates a response.
  public init(_ status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: [UInt8] = []) {
    self.init(status, fields, .bytes(body))
  }

  /// Creates a response with a text for its body, in UTF-8.
  public init(_ status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: String) {
    self.init(status, fields: fields, body: Array(body.utf8))
  }

  /// Creates a response whose body is written in pieces, as fast as the client reads it.
  ///
  /// - Parameters:
  ///   - status: the status.
  ///   - fields: the fields.
  ///   - length: the value of `Content-Length`, true or not; nil, the default, leaves it out.
  ///   - write: writes the body. It may wait for a ``Gate``, and break off with an ``OriginFault``.
  public init(
    _ status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], length: Int? = nil,
    writing write: @escaping @Sendable (OriginBodyWriter) async throws -> Void
  ) {
    self.init(status, fields, .stream(OriginStream(length: length, write: write)))
  }

  /// Creates a response with so many bytes of ``GeneratedBody``, which are not held in memory.
  ///
  /// - Parameters:
  ///   - count: the length in bytes, also for `Content-Length`.
  ///   - fields: the fields.
  public init(generating count: Int, fields: HTTPFields = [:]) {
    self.init(fields: fields, length: count) { try await $0.write(generated: count) }
  }

  /// A response whose body is the request: its first line, its fields and its body, as HTTP/1.1 writes them.
  public static func echo(of request: RecordedRequest) -> OriginResponse {
    let fields = request.fields.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
    let head = "\(request.method) \(request.target) HTTP/1.1\r\n\(fields)\r\n"
    return OriginResponse(fields: [.contentType: "message/http"], body: Array(head.utf8) + request.body)
  }

  /// The same response with its body packed by gzip, and `Content-Encoding` saying so.
  ///
  /// A body that is written in pieces is sent as it is written, not packed.
  public func gzipped() -> OriginResponse {
    var response = self
    if case .bytes(let bytes) = content { response.body = Gzip.wrapped(bytes) }
    response.fields[.contentEncoding] = "gzip"
    return response
  }

  /// Whether the connection ends with the response.
  var closes: Bool { fields[.connection]?.lowercased() == "close" }

  /// The length to announce, unless the fields say where the body ends.
  var length: Int? {
    guard trailers.isEmpty, !fields.contains(.contentLength), !fields.contains(.transferEncoding) else { return nil }
    return switch content {
    case .bytes(let bytes): bytes.count
    case .stream(let stream): stream.length
    }
  }
}

/// Where a response's body comes from.
enum OriginContent: Hashable, Sendable {
  case bytes([UInt8])
  case stream(OriginStream)
}

/// A body that is written in pieces; equal only to itself.
final class OriginStream: Hashable, Sendable {
  let length: Int?
  let write: @Sendable (OriginBodyWriter) async throws -> Void

  init(length: Int?, write: @escaping @Sendable (OriginBodyWriter) async throws -> Void) {
    self.length = length
    self.write = write
  }

  static func == (one: OriginStream, other: OriginStream) -> Bool { one === other }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
