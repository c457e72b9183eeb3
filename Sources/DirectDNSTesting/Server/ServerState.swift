// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The records of every server: its connections, and the requests on them.
struct ServerLog: Sendable {
  var requests: [RecordedRequest] = []
  /// Every connection, open or not; a connection's number is its index plus one.
  var history: [RecordedConnection] = []
  var connections: [Int: ServerConnection] = [:]
  /// Whether new connections are never answered.
  var isMute = false
  var isStopped = false

  var accepted: Int { history.count }

  /// Numbers a connection and records it; a stopped server accepts none.
  mutating func accept(_ channel: any Channel) -> ServerConnection? {
    guard !isStopped else { return nil }
    let client = channel.remoteAddress
    history.append(
      RecordedConnection(number: accepted + 1, client: client?.ipAddress ?? "", clientPort: client?.port ?? 0))
    let connection = ServerConnection(number: accepted, channel: channel)
    connections[accepted] = connection
    return connection
  }

  /// Updates the record of a connection.
  mutating func update(_ connection: ServerConnection, _ change: (inout RecordedConnection) -> Void) {
    change(&history[connection.number - 1])
  }

  mutating func end(_ connection: ServerConnection) {
    connections[connection.number] = nil
    update(connection) { $0.isOpen = false }
  }

  /// The record of a request of which only the head has come, without storing it.
  func preview(_ incoming: IncomingRequest, on connection: ServerConnection) -> RecordedRequest {
    var record = history[connection.number - 1]
    record.requestCount += 1
    return incoming.recorded(number: requests.count + 1, connection: record)
  }

  /// Counts a request, without storing its record, which the caller may complete first.
  mutating func count(_ incoming: IncomingRequest, on connection: ServerConnection) -> RecordedRequest {
    update(connection) { $0.requestCount += 1 }
    return incoming.recorded(number: requests.count + 1, connection: history[connection.number - 1])
  }

  /// Records a request.
  mutating func record(_ incoming: IncomingRequest, on connection: ServerConnection) -> RecordedRequest {
    let request = count(incoming, on: connection)
    requests.append(request)
    return request
  }
}

/// The state of a server, with the records that all servers have.
protocol ServerState: Sendable {
  /// The records so far.
  var log: ServerLog { get set }
}
