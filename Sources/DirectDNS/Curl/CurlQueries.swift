// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// Sends DNS requests over pools of connections, each of which decides for itself.
final class CurlQueries: CurlDriver {
  enum Command { case start(CurlQuery), cancel(CurlQuery) }

  let multis: [CurlMulti]
  var now = LoopTime.now
  var recheck = CurlRecheck()
  private var pools: [ObjectIdentifier: Pool] = [:]
  /// The pool that was used last, which is usually the next one too.
  private var lastPool: Pool?
  /// Requests that have ended, and have yet to be given back.
  private var done: [CurlQuery] = []
  let sockets: CurlSockets
  /// Kept connections that carry one transfer at a time.
  private var serial: Set<curl_socket_t> = []
  /// How many transfers were started, and have sent nothing yet.
  private var startCount = 0

  init?(_ settings: (), poller: Poller, resumption: TaskResumption) {
    guard let multi = CurlMulti(index: 0, poller: poller) else { return nil }
    multis = [multi]
    sockets = CurlSockets(poller: poller)
    multi.sockets = sockets
    multi.sharesConnections = true
    limitConnections()
    // The sockets are this object's own.
    sockets.closing = { [unowned self] socket in
      serial.remove(socket)
      for pool in pools.values { pool.closed(socket) }
    }
  }

  /// libcurl has one limit for all servers: it is set to what the largest pool needs, or all pools of one address
  /// together where libcurl does not tell them apart; other pools stay below by the limit of their transfers.
  private func limitConnections() {
    let few = QueryPoolMachine.fewConnections
    var limits: [IPAddress?: Int] = [:]
    for pool in pools.values {
      let (addresses, own): ([IPAddress?], Int) = (pool.route.addresses, pool.connectionLimit)
      for address in addresses.isEmpty ? [nil] : addresses {
        let others = limits[address, default: 0]
        limits[address] = CurlVersion.countsByAddress ? others + own : max(others, own)
      }
    }
    let limit = limits.values.max() ?? few
    multis[0].set(CURLMOPT_MAX_HOST_CONNECTIONS, limit)
    // The idle connections of all servers together: libcurl closes the oldest one beyond that, and several servers may be
    // asked in turn.
    multis[0].set(CURLMOPT_MAXCONNECTS, max(few * 8, limit * 2))
  }

  var isBusy: Bool { pools.values.contains(where: \.isBusy) }

  var isEmpty: Bool { pools.values.allSatisfy(\.isEmpty) }

  func started() { startCount += 1 }

  func takeSocketsToCork() -> [curl_socket_t] {
    exchange(&startCount, with: 0) > 1 ? Array(sockets.open) : []
  }

  func stop() {
    for pool in pools.values { pool.stop() }
    deliverDone()
    sockets.closing = nil
  }

  // MARK: Requests

  func carryOut(_ command: Command) {
    switch command {
    case .start(let query):
      guard case .new = query.place else { return finish(query, .failure(.cancelled)) }
      pool(of: query).start(query)
    case .cancel(let query):
      switch query.place {
      case .new: query.place = .cancelled
      case .pool(let id): pool(of: query).cancel(id)
      case .cancelled, .done: break
      }
    }
  }

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let easy = unsafe CurlHandle.owner(of: handle, as: QueryHandle.self), let pool = easy.pool else { return }
    let wasSerial = pool.isSerial
    if code == CURLE_OK, !easy.handle.isHTTP2 { serial.insert(unsafe directdns_kept_socket(handle)) }
    pool.ended(easy, code)
    if pool.isSerial != wasSerial { limitConnections() }
  }

  /// Ends an HTTP/1 connection on which the server sends something unsolicited: it would be taken for the answer to the
  /// next query (RFC 9112 §6.3), and not every format repeats the question.
  func receivedUnsolicited(on socket: CInt) {
    if serial.contains(socket) { directdns_end_unread(socket) }
  }

  /// Whether a kept connection of a route carries one transfer at a time.
  func isSerial(_ socket: curl_socket_t, of route: QueryRoute) -> Bool { !route.usesTLS || serial.contains(socket) }

  func endTurn() -> Int64 {
    var due = Int64.max
    for pool in pools.values { due = min(due, pool.endTurn()) }
    deliverDone()
    return due
  }

  func finish(_ query: CurlQuery, _ result: consuming Result<HTTPReply, HTTPTransportError>) {
    query.finish(consume result)
    done.append(query)
  }

  /// Gives ended requests back, all those of a recipient together; there is nearly always only one recipient.
  private func deliverDone() {
    var rest = exchange(&done, with: [])[...]
    while let recipient = rest.first?.recipient {
      let own = rest.prefix { $0.recipient === recipient }
      rest = rest.dropFirst(own.count)
      recipient.receive(own)
    }
  }

  // MARK: Pools

  private func pool(of query: CurlQuery) -> Pool {
    if let lastPool, lastPool.route === query.request.route { return lastPool }
    let pool = knownPool(of: query.request.route)
    lastPool = pool
    return pool
  }

  private func knownPool(of route: QueryRoute) -> Pool {
    if let pool = pools[ObjectIdentifier(route)] { return pool }
    // A new pool may replace others of the same origin, which had other addresses or settings.
    pools = pools.filter { _, pool in
      pool.route.origin != route.origin || !pool.isEmpty || pool.usedAt > now - Self.idleTime
    }
    let pool = Pool(route, of: self, multis[0])
    pools[ObjectIdentifier(route)] = pool
    limitConnections()
    return pool
  }

  /// How many milliseconds an unused pool stays beside others of its origin: as long as libcurl keeps a connection.
  private static let idleTime: Int64 = 120_000
}
