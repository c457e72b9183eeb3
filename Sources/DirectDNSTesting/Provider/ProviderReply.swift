// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// A response before it is sent.
struct ProviderReply: Sendable {
  var status: Int
  var contentType: String?
  var fields: HTTPFields
  var body: [UInt8]

  init(status: Int = 200, contentType: String?, fields: HTTPFields = [:], body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.fields = fields
    self.body = body
  }

  init(status: Int = 200, contentType: String?, fields: HTTPFields = [:], body: String) {
    self.init(status: status, contentType: contentType, fields: fields, body: Array(body.utf8))
  }

  init(status: Int = 200, contentType: String = "application/json", fields: HTTPFields = [:], json: JSONText) {
    self.init(status: status, contentType: contentType, fields: fields, body: json.text)
  }

  /// A failure that is explained in plain text.
  static func refusal(_ status: Int, _ reason: String, fields: HTTPFields = [:]) -> ProviderReply {
    ProviderReply(status: status, contentType: "text/plain", fields: fields, body: reason)
  }

  mutating func pad(to count: Int) {
    let filler = contentType == MessageFormat.contentType ? 0 : UInt8(ascii: " ")
    body += Array(repeating: filler, count: max(0, count - body.count))
  }
}
