// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

extension CurlQueries {
  /// The transfers of one pool: running ones, waiting ones, and idle handles.
  final class Pool {
    /// Kept alive, since pools are told apart by the identity of this object.
    let identity: QueryPool
    var queue = Deque<CurlJob>()
    /// No waiting transfer times out before this instant.
    var earliestDeadline = Int64.max
    /// All of its handles, including idle ones.
    var handles: [CurlEasy] = []
    var idle: [CurlEasy] = []
    var running: Int { handles.count - idle.count }
    /// Whether its connections carry one transfer at a time: always with plain http; with TLS it is known after the
    /// first response.
    var isSerial: Bool

    init(_ identity: QueryPool) {
      self.identity = identity
      isSerial = !identity.usesTLS
    }

    /// How many transfers may be in flight.
    var width: Int { isSerial ? identity.connections : identity.width }

    /// How many connections it may have.
    ///
    /// Over HTTP/2 one is enough for most servers; libcurl opens another one when a server's limit of streams is
    /// reached.
    var connectionLimit: Int { isSerial ? identity.connections : min(CurlQueries.fewConnections, identity.connections) }
  }
}
