// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// What the pool's decisions mean for libcurl.
extension CurlTransfers {
  /// Carries out the machine's actions, and those that follow from them.
  func perform() {
    while var due = machine.actions.take() {
      // First, while these numbers are surely theirs: with the end of a transfer libcurl may close a socket, whose number the
      // next one has that anybody in the process opens.
      for index in due.indices { if case .endConnection(let socket) = due[index] { directdns_end(socket) } }
      for index in due.indices { perform(due[index]) }
      machine.actions.reuse(&due)
    }
  }

  private func perform(_ action: Machine.Action) {
    switch action {
    case .connect(let id, let number, let address, let waits): connect(id, number, address, waits)
    case .close(let id, let number): close(id, number)
    case .askForOthers(let id):
      guard let transfer = running[id.index].transfer else { break }
      if let known = transfer.request.target.others?.ask() { join(transfer, known) } else { machine.step(id, at: now) }
    case .report(let id, let address, let error):
      running[id.index].transfer?.request.watcher.observer?(.failed(address, error))
    case .startOver(let id):
      guard let transfer = running[id.index].transfer else { break }
      transfer.carrier = nil
      transfer.progress.sent = 0
      if case .pulled(let upload) = transfer.request.body { _ = upload.restart() }
    case .checkRefusal(let id, let number):
      guard let attempt = attempt(id, number), let multi = attempt.multi, attempt.checkRefusal(multi) else {
        return machine.checked(id, wasRefused: false)
      }
    case .resumeUpload(let id):
      if let carrier = running[id.index].transfer?.carrier { endIfFailed(carrier, carrier.resumeSending()) }
    case .checkUpload(let id): machine.checked(id, uploadFacts(of: id))
    case .end(let id, let result): end(id, result)
    case .endConnection: break
    }
  }

  private func attempt(_ id: Machine.TransferID, _ number: Int) -> ConnectAttempt? {
    running[id.index].attempts.first { $0.number == number }
  }

  private func connect(_ id: Machine.TransferID, _ number: Int, _ address: IPAddress?, _ waits: Bool) {
    guard let transfer = running[id.index].transfer, let pool = machine.pool(of: id) else { return }
    let (cache, scope, isMultiplexed) = machine.place(of: pool) ?? (0, 0, false)
    let speaksHTTP2 = transfer.request.route.proxy == nil && isMultiplexed
    guard let attempt = idleAttempts.take(for: pool) ?? ConnectAttempt(events: self),
      attempt.prepare(
        transfer, id, in: .init(id: pool, scope: scope, speaksHTTP2: speaksHTTP2), number: number, address: address,
        waits: waits)
    else {
      return machine.ended(id, attempt: number, .failed(.noMemory), at: now)
    }
    running[id.index].attempts.append(attempt)
    if let place = started.lastIndex(where: { $0.pool == pool }) {
      started[place].count += 1
    } else {
      started.append((pool, 1))
    }
    // Nobody would tell of its end.
    if !attempt.start(on: multi(cache)) { machine.ended(id, attempt: number, .failed(.noMemory), at: now) }
  }

  /// Whether a connection carries a transfer whose response is held back until its reader has caught up.
  ///
  /// libcurl does not watch the socket of such a connection, just as if it were idle.
  func isHeldBack(_ socket: curl_socket_t) -> Bool {
    let port = directdns_local_port(socket)
    return running.contains { $0.attempts.contains { leads(socket, $0) && $0.isHeldBack(at: port) } }
  }

  /// The attempt whose request a connection is carrying; nil if it is idle.
  func carrier(on socket: curl_socket_t) -> ConnectAttempt? {
    let port = directdns_local_port(socket)
    return running.lazy.compactMap { $0.transfer?.carrier }.first { leads(socket, $0) && $0.uses(port: port) }
  }

  /// Whether an attempt may be on a connection, by where it leads: the local port alone may be that of several.
  private func leads(_ socket: curl_socket_t, _ attempt: ConnectAttempt) -> Bool {
    guard let pool = attempt.pool?.id else { return false }
    return machine.leads(socket, into: pool, to: attempt.address)
  }

  /// The multi handle of a connection cache.
  private func multi(_ cache: Int) -> CurlMulti {
    if cache == multis.count, let multi = CurlMulti(index: UInt8(cache), poller: multis[0].poller) {
      configure(multi)
      multis.append(multi)
    }
    return multis[min(cache, multis.count - 1)]
  }

  /// Ends an attempt, and keeps its handle for the next one.
  private func close(_ id: Machine.TransferID, _ number: Int) {
    guard let transfer = running[id.index].transfer, let attempt = attempt(id, number) else { return }
    running[id.index].attempts.removeAll { $0 === attempt }
    // Before the list is changed, since libcurl calls back here.
    let isEmpty = attempt.stop()
    idleAttempts.add(attempt, isEmpty: isEmpty)
    forget(transfer, id)
  }

  private func end(_ id: Machine.TransferID, _ result: Result<Void, TransferFailure>) {
    guard let transfer = running[id.index].transfer else { return }
    transfer.pending.end = result.map { transfer.carrier?.lines?.trailers ?? [] }.mapError { failure in
      guard case .pulled(let upload) = transfer.request.body else { return failure }
      return failure.changed { $0.bodyFailure = upload.failure }
    }
    transfer.reportProgress(at: now, isLast: true)
    if case .pulled(let upload) = transfer.request.body { upload.stop() }
    transfer.carrier = nil
    transfer.place = .done
    forget(transfer, id)
    deliveries.add(transfer)
  }

  /// Lets go of a transfer that has ended, once none of its attempts needs it any more.
  private func forget(_ transfer: CurlTransfer, _ id: Machine.TransferID) {
    guard case .done = transfer.place, running[id.index].attempts.isEmpty else { return }
    running[id.index].transfer = nil
    transfer.request.release()
  }
}
