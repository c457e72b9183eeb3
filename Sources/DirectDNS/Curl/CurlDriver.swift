// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// A loop's driver whose work is transfers of libcurl.
protocol CurlDriver: LoopDriver {
  /// The handles of its transfers.
  var multis: [CurlMulti] { get }

  /// When transfers are looked at once more.
  var recheck: CurlRecheck { get set }

  /// Whether transfers run.
  var isBusy: Bool { get }

  /// The sockets that several of the transfers which were started since it was asked last will go out on.
  func takeSocketsToCork() -> [curl_socket_t]

  /// Takes back a handle whose transfer has ended.
  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode)

  /// A connection that no transfer uses has something to say, or has ended.
  func receivedUnasked(on socket: CInt)

  /// Does what is due, after transfers went on.
  ///
  /// - Returns: the instant before which nothing will be due.
  func endTurn() -> Int64
}

extension CurlDriver {
  static var threadName: String { "curl" }

  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8) {
    if ready.isEmpty { receivedUnasked(on: socket) } else { multis[Int(owner)].act(on: socket, ready) }
  }

  func turn(hasNews: Bool) -> Int64 {
    if hasNews {
      recheck.isTaken = false
    } else if recheck.due <= now {
      for multi in multis where multi.sharesConnections { multi.actOnAll() }
      recheck.isTaken = true
    }
    actOnTimers()
    for multi in multis {
      unsafe multi.reap {
        recheck.isTaken = false
        unsafe ended($0, $1)
      }
    }
    let due = multis.reduce(endTurn()) { min($0, $1.due) }
    let isWanted = !recheck.isTaken && isBusy && multis.contains(where: \.sharesConnections)
    recheck.due = isWanted ? LoopTime.now + CurlRecheck.delay : .max
    return min(due, recheck.due)
  }

  private func actOnTimers() {
    let corked = takeSocketsToCork()
    CurlSockets.cork(corked, true)
    for multi in multis where multi.due <= now { multi.actOnTimers() }
    CurlSockets.cork(corked, false)
  }

  /// The connections end with the handles, and each tells the driver's objects of its end.
  func close() { withExtendedLifetime(self) { for multi in multis { multi.close() } } }
}

/// A look at every running transfer, as if its socket were ready, once nothing has happened for some milliseconds.
///
/// Where transfers share a connection, one that reads another one's response wakes it by a timer that is due at once.
/// Before 8.16 libcurl can drop such timers unserved: `curl_multi_perform` drops what is due when it ends, by a clock that
/// starting a transfer has set forward (curl#17883 did away with them). The response then lies in libcurl's own buffer,
/// and its socket has nothing more to say.
struct CurlRecheck {
  /// Milliseconds without an event, and then it is taken.
  static let delay: Int64 = 5

  /// Whether it was taken since anything happened.
  var isTaken = false
  var due = Int64.max
}
