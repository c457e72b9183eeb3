// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// What every server remembers: its connections, and what came on them.
struct ServerLog: Sendable {
  var requests: [RecordedRequest] = []
  /// Every connection, open or not; a connection's number is one more than its place.
  var history: [RecordedConnection] = []
  var connections: [Int: ServerConnection] = [:]
  /// Whether new connections are met with silence.
  var isMute = false
  var isStopped = false

  var accepted: Int { history.count }

  /// Numbers a connection and remembers it; a server that was stopped takes none.
  mutating func accept(_ channel: any Channel) -> ServerConnection? {
    guard !isStopped else { return nil }
    let client = channel.remoteAddress
    history.append(
      RecordedConnection(number: accepted + 1, client: client?.ipAddress ?? "", clientPort: client?.port ?? 0))
    let connection = ServerConnection(number: accepted, channel: channel)
    connections[accepted] = connection
    return connection
  }

  /// Writes down what has become of a connection.
  mutating func update(_ connection: ServerConnection, _ change: (inout RecordedConnection) -> Void) {
    change(&history[connection.number - 1])
  }

  mutating func end(_ connection: ServerConnection) {
    connections[connection.number] = nil
    update(connection) { $0.isOpen = false }
  }

  /// What would be written down of a request of which only the head has come.
  func preview(_ incoming: IncomingRequest, on connection: ServerConnection) -> RecordedRequest {
    var record = history[connection.number - 1]
    record.requestCount += 1
    return incoming.recorded(number: requests.count + 1, connection: record)
  }

  /// Counts a request; it is written down by whoever knows what else there is to say about it.
  mutating func count(_ incoming: IncomingRequest, on connection: ServerConnection) -> RecordedRequest {
    update(connection) { $0.requestCount += 1 }
    return incoming.recorded(number: requests.count + 1, connection: history[connection.number - 1])
  }

  /// Writes a request down.
  mutating func record(_ incoming: IncomingRequest, on connection: ServerConnection) -> RecordedRequest {
    let request = count(incoming, on: connection)
    requests.append(request)
    return request
  }
}

/// The state of a server, with the part that all servers share.
protocol ServerState: Sendable {
  /// What came so far.
  var log: ServerLog { get set }
}
