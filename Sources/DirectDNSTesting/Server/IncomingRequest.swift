import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// A request as NIO hands it over, with its whole body.
struct IncomingRequest: Sendable {
  let head: HTTPRequestHead
  let body: [UInt8]
  let version: HTTPVersion

  func recorded(number: Int, connection: ServerConnection) -> RecordedRequest {
    let halves = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var fields = HTTPFields()
    for (name, value) in head.headers {
      guard let name = HTTPField.Name(name) else { continue }
      fields.append(HTTPField(name: name, value: value))
    }
    return RecordedRequest(
      number: number, connection: connection.number, version: version,
      serverName: connection.serverName.withLockedValue { $0 },
      client: connection.channel.remoteAddress?.ipAddress ?? "",
      clientPort: connection.channel.remoteAddress?.port ?? 0,
      method: HTTPRequest.Method(rawValue: head.method.rawValue) ?? .get, target: head.uri, path: String(halves[0]),
      query: halves.count > 1 ? QueryItem.items(of: halves[1]) : [], fields: fields, body: body)
  }
}
