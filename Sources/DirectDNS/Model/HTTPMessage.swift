// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// One DNS request as it goes out over HTTP.
///
/// Its URL may hold a signature or a token, so it is never printed: descriptions show only the method.
public struct HTTPMessage: Sendable {
  /// POST if there is a body, else GET.
  public var method: HTTPRequest.Method { body == nil ? .get : .post }
  /// The URL in the form in which it is sent.
  public var url: String
  /// The header fields; only those that the protocol needs are added.
  public var fields: HTTPFields { didSet { fieldLines = Self.lines(fields) } }
  /// The fields as libcurl takes them: built once, and shared by all copies of a message.
  private(set) var fieldLines: [String]
  /// The body of a POST.
  public var body: [UInt8]?

  /// Creates a request.
  public init(url: String, fields: HTTPFields = [:], body: [UInt8]? = nil) {
    self.url = url
    self.fields = fields
    self.body = body
    fieldLines = Self.lines(fields)
  }

  private static func lines(_ fields: HTTPFields) -> [String] {
    fields.map { $0.name.rawName + ": " + $0.value }
  }
}

extension HTTPMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The method alone.
  public var description: String { "\(method.rawValue) request" }
  /// The method alone.
  public var debugDescription: String { description }
  /// The method alone.
  public var customMirror: Mirror { Mirror(self, children: ["method": method.rawValue]) }
}

/// What came back: status, the fields that matter to DNS, and the body.
public struct HTTPReply: Sendable {
  /// The largest body that is read: 64 KiB, the size of the largest DNS message.
  public static let bodyLimit = 65_536
  /// The most that is read of header fields and trailers together: 64 KiB, where each line counts 32 bytes more than it
  /// has.
  public static let fieldLimit = 65_536

  /// The status.
  public var status: HTTPResponse.Status
  /// `Content-Type`, if the response had it.
  public var contentType: String?
  /// `Age`, if the response had it.
  public var age: String?
  /// `Cache-Control`, if the response had it.
  public var cacheControl: String?
  /// `Retry-After`, if the response had it.
  public var retryAfter: String?
  /// `Date`, if a response of status 429 had it.
  public var date: String?
  /// The body, as it came.
  public var body: [UInt8]
  /// The address that answered, if the transport knows it.
  public var address: IPAddress?

  /// Creates a reply from those fields of a response that matter.
  public init(
    status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = [], address: IPAddress? = nil
  ) {
    self.init(
      status: status, contentType: fields[.contentType], age: fields[.age], cacheControl: fields[.cacheControl],
      retryAfter: fields[.retryAfter], date: fields[.date], body: body, address: address)
  }

  /// Creates a reply.
  public init(
    status: HTTPResponse.Status, contentType: String?, age: String? = nil, cacheControl: String? = nil,
    retryAfter: String? = nil, date: String? = nil, body: [UInt8] = [], address: IPAddress? = nil
  ) {
    self.status = status
    self.contentType = contentType
    self.age = age
    self.cacheControl = cacheControl
    self.retryAfter = retryAfter
    self.date = date
    self.body = body
    self.address = address
  }
}
