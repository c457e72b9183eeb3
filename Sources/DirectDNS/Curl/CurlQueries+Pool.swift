// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import CDirectDNSLoop

extension CurlQueries {
  /// The requests to one server: carries out the actions of its ``QueryPoolMachine``, and tells it what libcurl does.
  final class Pool {
    /// Kept alive, since pools are found by the identity of this object.
    let route: QueryRoute
    // It belongs to the driver.
    private unowned let driver: CurlQueries
    private let multi: CurlMulti
    private var machine: QueryPoolMachine
    /// libcurl's handles, by their numbers in the machine.
    private var handles: [QueryHandle] = []
    /// The requests that wait or are under way, by the index of their ids.
    private var queries: [CurlQuery?] = []
    /// The sockets of the connections that its requests were sent on, by their local ports, until libcurl closes them:
    /// from then on another connection may have that port.
    private var sockets: [CInt: curl_socket_t] = [:]
    /// When a request came last.
    private(set) var usedAt = Int64.min

    init(_ route: QueryRoute, of driver: CurlQueries, _ multi: CurlMulti) {
      self.route = route
      self.driver = driver
      self.multi = multi
      machine = QueryPoolMachine(
        .init(width: route.width, connections: route.connections), isSerial: !route.usesTLS,
        addresses: route.addresses)
    }

    var isEmpty: Bool { machine.isEmpty }

    /// Whether any transfer is under way.
    var isBusy: Bool { machine.running > 0 }

    /// Whether its connections carry one transfer at a time.
    var isSerial: Bool { machine.isSerial }

    var connectionLimit: Int { machine.connectionLimit }

    // MARK: Requests

    func start(_ query: CurlQuery) {
      usedAt = driver.now
      let id = machine.start(deadline: query.deadline, at: driver.now)
      query.place = .pool(id)
      if id.index < queries.count { queries[id.index] = query } else { queries.append(query) }
      perform()
    }

    func cancel(_ id: QueryPoolMachine.QueryID) {
      machine.cancel(id, at: driver.now)
      perform()
    }

    func stop() {
      machine.stop()
      perform()
    }

    func endTurn() -> Int64 {
      var due = machine.endTurn(at: driver.now)
      while !machine.actions.isEmpty {
        perform()
        due = machine.endTurn(at: driver.now)
      }
      return due
    }

    // MARK: What libcurl does

    func dialled(_ number: Int) { machine.dialled(number, at: driver.now) }

    func connected(_ number: Int, port: CInt, isHTTP2: Bool) -> Bool {
      if sockets[port] == nil { sockets[port] = driver.sockets.socket(port: port, of: route) }
      return machine.connected(number, port: port, isHTTP2: isHTTP2, at: driver.now)
    }

    /// Whether a kept connection with that local port, which carries one transfer at a time, has brought what nobody
    /// has read, or has ended.
    func hasUnread(_ port: CInt) -> Bool {
      sockets[port].map { driver.isSerial($0, of: route) && directdns_peek($0) >= 0 } ?? false
    }

    func closed(_ socket: curl_socket_t) {
      if let port = sockets.first(where: { $0.value == socket })?.key { sockets[port] = nil }
    }

    func responded(_ number: Int) { machine.responded(number) }

    func ended(_ easy: QueryHandle, _ code: CURLcode) {
      if easy.needsNewHandle {
        let isWanted = machine.mayStartOver(easy.number)
        if isWanted, easy.startOver(on: multi) { return }
        machine.ended(easy.number, .failed(isWanted ? .noMemory : .cancelled, .other), at: driver.now)
        return perform()
      }
      let outcome: QueryPoolMachine.Outcome =
        easy.fault(code).map { .failed($0, AttemptEnd(code)) } ?? .replied(isHTTP2: easy.handle.isHTTP2)
      machine.ended(easy.number, outcome, at: driver.now)
      perform()
    }

    // MARK: Actions

    private func perform() {
      while var due = machine.actions.take() {
        for index in due.indices { perform(due[index]) }
        machine.actions.reuse(&due)
      }
    }

    private func perform(_ action: QueryPoolMachine.Action) {
      switch action {
      case .begin(let id, let number, let address, let sharing): begin(id, number, address, sharing)
      case .stop(let number): if number < handles.count { multi.remove(handles[number].handle) }
      case .reply(let id, let number): finish(id, .success(handles[number].takeReply()))
      case .fail(let id, let error): finish(id, .failure(error))
      // Its request is still needed for further attempts to connect.
      case .leave(let id): if let query = queries[id.index] { driver.finish(query, .failure(.cancelled)) }
      case .forget(let id): queries[id.index] = nil
      case .endConnection(let port): if let socket = sockets[port] { directdns_end(socket) }
      }
    }

    private func begin(
      _ id: QueryPoolMachine.QueryID, _ number: Int, _ address: IPAddress?, _ sharing: QueryPoolMachine.Sharing
    ) {
      guard let query = queries[id.index] else { return }
      if number == handles.count, let easy = QueryHandle(route, sockets: driver.sockets, owner: self, number: number) {
        handles.append(easy)
      }
      guard number < handles.count,
        handles[number].prepare(query.request, to: address, isHTTP1: !machine.speaksHTTP2)
      else {
        return machine.ended(number, .failed(.noMemory, .other), at: driver.now)
      }
      let easy = handles[number]
      easy.share(sharing)
      guard multi.add(easy.handle) else {
        // Nobody would tell of its end.
        return machine.ended(number, .failed(.noMemory, .other), at: driver.now)
      }
      driver.started()
    }

    private func finish(_ id: QueryPoolMachine.QueryID, _ result: consuming Result<HTTPReply, HTTPTransportError>) {
      guard let query = queries[id.index].take() else { return }
      driver.finish(query, consume result)
    }
  }
}
