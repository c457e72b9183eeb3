// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A request as NIO delivers it, with the part of its body that has come.
struct IncomingRequest: Sendable {
  let head: HTTPRequestHead
  let version: HTTPProtocolVersion
  /// The head's bytes on the wire, if they could be recorded.
  let rawHead: [UInt8]
  var body = ReceivedBody()
  var trailers = HTTPHeaders()

  /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
  var expectsContinue: Bool {
    head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
  }

  /// Whether a body follows the head of an HTTP/1.1 request (RFC 9112 §6.3).
  var hasBody: Bool {
    head.headers.contains(name: "transfer-encoding")
      || head.headers["content-length"].contains { $0 != "0" }
  }

  func recorded(number: Int, connection: RecordedConnection) -> RecordedRequest {
    let halves = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return RecordedRequest(
      number: number, connection: connection.number, numberOnConnection: connection.requestCount, version: version,
      serverName: connection.serverName, client: connection.client, clientPort: connection.clientPort,
      method: HTTPRequest.Method(rawValue: head.method.rawValue) ?? .get, target: head.uri, path: String(halves[0]),
      query: halves.count > 1 ? QueryItem.items(of: halves[1]) : [], fields: HTTPFields(head.headers),
      rawHead: rawHead, body: body.kept, bodyLength: body.length, bodyHash: body.hash, trailers: HTTPFields(trailers))
  }
}

extension HTTPFields {
  /// The fields in their order, with their names as written.
  fileprivate init(_ headers: HTTPHeaders) {
    self.init()
    for (name, value) in headers {
      guard let name = HTTPField.Name(name) else { continue }
      append(HTTPField(name: name, value: value))
    }
  }
}
