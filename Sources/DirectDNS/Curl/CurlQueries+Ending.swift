// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import DequeModule

/// How requests end: by a reply, by a failure that is not repaired, or because their time is over.
extension CurlQueries {
  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let easy = unsafe CurlHandle.owner(of: handle, as: CurlEasy.self), let job = easy.job else { return }
    let pool = pool(of: job)
    if job.race != nil, easy.stage == .sent { settle(easy, in: pool) }
    if code == CURLE_OK {
      easy.repliedAt = now
      if pool.isSerial == easy.isHTTP2 {
        pool.isSerial.toggle()
        limitConnections()
      }
      if pool.isSerial { serial.insert(unsafe directdns_kept_socket(handle)) }
      end(job, by: easy, in: pool, .success(easy.takeReply()))
    } else if job.race?.winner ?? easy.attempt != easy.attempt {
      // Another attempt of its request carries it.
      release(easy, in: pool)
    } else {
      failed(job, by: easy, in: pool, code)
    }
  }

  private func failed(_ job: CurlJob, by easy: CurlEasy, in pool: Pool, _ code: CURLcode) {
    let failure = easy.failure(code)
    if !failure.isLocal, tryNext(job, after: easy, in: pool) { return }
    if !job.isRepeated, code == CURLE_HTTP2 || Self.endsOfConnections.contains(code) && !easy.hasResponse {
      job.isRepeated = true
      sendAgain(job, by: easy, in: pool)
    } else {
      end(job, by: easy, in: pool, .failure(failure))
    }
  }

  /// What libcurl says when a connection ends under a request.
  ///
  /// A server ends an HTTP/2 connection after so many requests (nginx: `keepalive_requests`), and to 8.3 libcurl does not
  /// repeat all that were refused by that (curl#12054). A DNS query may be repeated (RFC 9110 §9.2.2).
  private static let endsOfConnections = [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE]

  /// Ends an HTTP/1 connection on which the server sends something unsolicited: it would be taken for the answer to the
  /// next query (RFC 9112 §6.3), and not every format repeats the question.
  func receivedUnsolicited(on socket: CInt) {
    if serial.contains(socket) { directdns_end_unread(socket) }
  }

  /// Carries on races, ends transfers that have timed out, and gives back those that have ended.
  func endTurn() -> Int64 {
    let nextAttempt = isRacing || sockets.hasDialled ? race() : .max
    // Not left to libcurl, which can lose timers (see ``CurlRecheck``).
    if earliestEnd <= now {
      earliestEnd = .max
      for pool in pools.values {
        for easy in pool.handles {
          guard let job = easy.job else { continue }
          if job.deadline <= now {
            noteSilence(job, in: pool)
            end(job, by: easy, in: pool, .failure(.timedOut))
          } else {
            earliestEnd = min(earliestEnd, job.deadline)
          }
        }
      }
    }
    var due = min(earliestEnd, nextAttempt)
    for pool in pools.values {
      while let first = pool.queue.first, first.stage != .queued { pool.queue.removeFirst() }
      guard !pool.queue.isEmpty else {
        pool.earliestDeadline = .max
        continue
      }
      if pool.earliestDeadline <= now {
        // Deadlines are not in the order of the queue.
        for job in pool.queue where job.stage == .queued && job.deadline <= now { finish(job, .failure(.timedOut)) }
        pool.queue.removeAll { $0.stage != .queued }
        pool.earliestDeadline = pool.queue.map(\.deadline).min() ?? .max
      }
      due = min(due, pool.earliestDeadline)
    }
    deliverDone()
    return due
  }
}
