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
    /// When a transfer began last.
    var usedAt = Int64.min
    /// Whether its connections carry one transfer at a time: always with plain http; with TLS it is known after the
    /// first response.
    var isSerial: Bool
    /// Its addresses in the order of trying: the one that connected last comes first, those that were silent last.
    private(set) var addresses: [IPAddress]
    /// Since when a connection, by its local port, has not replied to queries that have timed out on it.
    private var silent: [CInt: Int64] = [:]

    init(_ identity: QueryPool) {
      self.identity = identity
      isSerial = !identity.usesTLS
      addresses = identity.addresses
    }

    /// How many transfers may be in flight.
    var width: Int { isSerial ? identity.connections : identity.width }

    /// How many connections it may have.
    ///
    /// Over HTTP/2 one is enough for most servers; libcurl opens another one when a server's limit of streams is
    /// reached.
    var connectionLimit: Int { isSerial ? identity.connections : min(CurlQueries.fewConnections, identity.connections) }

    // MARK: Addresses

    /// A connection to an address stands.
    func connected(_ address: IPAddress?) { move(address) { $0.insert($1, at: 0) } }

    /// An address has said nothing.
    func wasSilent(_ address: IPAddress?) { move(address) { $0.append($1) } }

    private func move(_ address: IPAddress?, _ insert: (inout [IPAddress], IPAddress) -> Void) {
      guard let address, let place = addresses.firstIndex(of: address) else { return }
      addresses.remove(at: place)
      insert(&addresses, address)
    }

    // MARK: Silence

    /// A request has timed out: notes what has been silent since it began.
    ///
    /// - Returns: whether its connection should serve no longer: it may have died in a way that TCP does not notice.
    func timedOut(_ easy: CurlEasy, at now: Int64) -> Bool {
      guard easy.stage != .waiting, !easy.hasResponse else { return false }
      let since = easy.startedAt
      if !handles.contains(where: { $0.address == easy.address && $0.repliedAt > since }) { wasSilent(easy.address) }
      guard easy.stage == .sent else { return false }
      let port = easy.localPort
      func hasReplied(since: Int64) -> Bool { handles.contains { $0.localPort == port && $0.repliedAt > since } }
      guard !hasReplied(since: since) else {
        silent[port] = nil
        return false
      }
      let beginning = silent[port].flatMap { hasReplied(since: $0) ? nil : $0 } ?? since
      let isOver = now - beginning >= CurlQueries.silenceLimit
      silent[port] = isOver ? nil : beginning
      return isOver
    }
  }
}
