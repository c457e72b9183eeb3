import NIOCore

/// What every server remembers: its connections, and what came on them.
struct ServerLog: Sendable {
  var requests: [RecordedRequest] = []
  var accepted = 0
  var connections: [Int: ServerConnection] = [:]
  /// Whether new connections are met with silence.
  var isMute = false
  var isStopped = false

  /// Numbers a connection and remembers it; a server that was stopped takes none.
  mutating func accept(_ channel: any Channel) -> ServerConnection? {
    guard !isStopped else { return nil }
    accepted += 1
    let connection = ServerConnection(number: accepted, channel: channel)
    connections[accepted] = connection
    return connection
  }

  /// Writes a request down.
  mutating func record(_ incoming: IncomingRequest, on connection: ServerConnection) -> RecordedRequest {
    let request = incoming.recorded(number: requests.count + 1, connection: connection)
    requests.append(request)
    return request
  }
}

/// The state of a server, with the part that all servers share.
protocol ServerState: Sendable {
  /// What came so far.
  var log: ServerLog { get set }
}
