public import HTTPTypes

/// What a ``FakeOrigin`` answers.
public struct OriginResponse: Hashable, Sendable {
  /// The status.
  public var status: HTTPResponse.Status
  /// The fields, sent in this order, and as often as they stand here.
  ///
  /// `Content-Length` is added unless it or `Transfer-Encoding` is among them. `Connection: close` closes an HTTP/1.1
  /// connection after the response.
  public var fields: HTTPFields
  /// The body; nothing of it is sent in answer to `HEAD`.
  public var body: [UInt8]

  /// Creates a response.
  public init(_ status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Creates a response with a text for its body, in UTF-8.
  public init(_ status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: String) {
    self.init(status, fields: fields, body: Array(body.utf8))
  }

  /// A response whose body is the request: its first line, its fields and its body, as HTTP/1.1 writes them.
  public static func echo(of request: RecordedRequest) -> OriginResponse {
    let fields = request.fields.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
    let head = "\(request.method) \(request.target) HTTP/1.1\r\n\(fields)\r\n"
    return OriginResponse(fields: [.contentType: "message/http"], body: Array(head.utf8) + request.body)
  }
}
