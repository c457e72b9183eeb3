// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// How connections are opened where a server has several addresses: by Happy Eyeballs (RFC 8305), since libcurl gives
/// the first address half of all the time before it tries the next one of its family (to 8.15).
extension CurlQueries {
  /// Milliseconds from one attempt to connect to the next (RFC 8305 §8).
  static let attemptDelay: Int64 = 250

  /// After so many milliseconds without a reply on a connection, on which a query has timed out, it serves no longer.
  static let silenceLimit: Int64 = 1_000

  /// Carries on the races for connections.
  ///
  /// - Returns: the instant before which nothing will be due.
  func race() -> Int64 {
    isRacing = false
    sockets.hasDialled = false
    var due = Int64.max
    for pool in pools.values where pool.addresses.count > 1 {
      for easy in pool.handles {
        guard let job = easy.job else { continue }
        if easy.stage == .connecting { beginRace(of: job, by: easy, in: pool) }
        if easy.stage == .sent, job.race != nil { settle(easy, in: pool) }
      }
      for easy in pool.handles {
        guard let job = easy.job, job.race != nil else { continue }
        isRacing = true
        due = min(due, advance(job, in: pool) ?? .max)
      }
    }
    return due
  }

  /// Begins a request's race with the attempt that is under way, unless it has one.
  private func beginRace(of job: CurlJob, by easy: CurlEasy, in pool: Pool) {
    guard job.race == nil else { return }
    let others = pool.addresses.filter { $0 != easy.address }
    let addresses = ConnectionRace.interleaved((easy.address.map { [$0] } ?? []) + others)
    var race = ConnectionRace(addresses, delay: Self.attemptDelay)
    _ = race.step(at: now)
    job.race = race
    easy.attempt = 0
  }

  /// Starts the attempts of a request that are due.
  ///
  /// - Returns: when the next one is due unless one ends before; nil if every address has failed.
  func advance(_ job: CurlJob, in pool: Pool) -> Int64? {
    while let step = job.race?.step(at: now) {
      switch step {
      case .start(let address, let number):
        if !start(job, in: pool, at: address, attempt: number) { job.race?.failed(number) }
      case .wait(let instant): return instant
      case .rest, .ask: return .max
      case .lost: return nil
      }
    }
    return .max
  }

  /// The first connection of a request's race stands: it is the one for every request that has none yet.
  func settle(_ winner: CurlEasy, in pool: Pool) {
    winner.job?.race = nil
    pool.connected(winner.address)
    for easy in pool.handles where easy !== winner && easy.stage != .sent {
      guard let job = easy.job, easy.address != winner.address || job === winner.job else { continue }
      job.race = nil
      if pool.handles.contains(where: { $0 !== easy && $0.job === job }) {
        release(easy, in: pool)
      } else {
        sendAgain(job, by: easy, in: pool)
      }
    }
  }

  /// An attempt has failed before its request could be sent: the next address is tried.
  ///
  /// - Returns: whether any attempt goes on; otherwise the attempt is left as it is.
  func tryNext(_ job: CurlJob, after easy: CurlEasy, in pool: Pool) -> Bool {
    guard easy.stage != .sent, pool.addresses.count > 1 else { return false }
    beginRace(of: job, by: easy, in: pool)
    job.race?.failed(easy.attempt)
    isRacing = true
    guard advance(job, in: pool) != nil else { return false }
    release(easy, in: pool)
    return true
  }

  /// Notes the silence of a request that has timed out, and ends its connection if that has lasted.
  func noteSilence(_ job: CurlJob, in pool: Pool) {
    for easy in pool.handles where easy.job === job {
      guard pool.timedOut(easy, at: now) else { continue }
      // Requests that share it are repeated on another one.
      for socket in sockets.open where directdns_local_port(socket) == Int(easy.localPort) { directdns_end(socket) }
    }
  }
}
