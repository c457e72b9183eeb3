// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import CDirectDNSOpenSSL

/// The driver of a loop that carries transfers of libcurl.
protocol CurlDriver: LoopDriver {
  /// The multi handles of its transfers.
  var multis: [CurlMulti] { get }

  /// When all transfers are looked at once more.
  var recheck: CurlRecheck { get set }

  /// Whether any transfer is running.
  var isBusy: Bool { get }

  /// Whether no transfer is running or waiting.
  var isEmpty: Bool { get }

  /// The sockets that several requests will be sent on, of those started since the last call.
  func takeSocketsToCork() -> [curl_socket_t]

  /// libcurl has ended a handle's transfer.
  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode)

  /// An idle connection has received something, or has ended.
  func receivedUnsolicited(on socket: CInt)

  /// Does what is due at the end of a turn.
  ///
  /// - Returns: the instant before which nothing will be due.
  func endTurn() -> Int64
}

extension CurlDriver {
  static var threadName: String { "curl" }
  static var runsTasks: Bool { true }

  /// OpenSSL would do it later, by a destructor that may meet `exit(3)`.
  static func threadEnds() { OPENSSL_thread_stop() }

  /// libcurl sends nothing on a connection that has been idle for 118 s (CURLOPT_MAXAGE_CONN): the thread takes none with
  /// it that would have been of use.
  var idleLimit: Int64? { isEmpty ? 120_000 : nil }

  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8) {
    if ready.isEmpty { receivedUnsolicited(on: socket) } else { multis[Int(owner)].act(on: socket, ready) }
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
    // Before the handles are looked at: it may begin a transfer by a new one.
    let next = endTurn()
    let due = multis.reduce(next) { min($0, $1.due) }
    let isWanted = !recheck.isTaken && isBusy && multis.contains(where: \.sharesConnections)
    recheck.due = isWanted ? LoopTime.now + CurlRecheck.delay : .max
    return min(due, recheck.due)
  }

  private func actOnTimers() {
    let crowded = takeSocketsToCork()
    CurlSockets.setCorked(true, crowded)
    for multi in multis where multi.due <= now { multi.actOnTimers() }
    CurlSockets.setCorked(false, crowded)
  }

  /// Closes the handles, and with them the connections, which still call objects of the driver when they end.
  func close() { withExtendedLifetime(self) { for multi in multis { multi.close() } } }
}

/// Where a transfer is, as the loop's thread sees it.
enum CurlPlace<ID> {
  case new
  /// It was cancelled before the thread knew it.
  case cancelled
  case pool(ID)
  case done
}

/// A look at every running transfer, as if its socket were ready, when nothing has happened for some milliseconds.
///
/// It works around a fault of libcurl before 8.16. Where transfers share a connection, one that reads another one's
/// response wakes that one by a timer that is due at once. libcurl can lose such a timer: `curl_multi_perform` drops
/// the timers that are due at its end, by a clock that the start of a transfer has set forward (curl#17883). The
/// response is then in libcurl's buffer, and the socket will never be ready again.
struct CurlRecheck {
  /// After so many milliseconds without an event, transfers are looked at.
  static let delay: Int64 = 5

  /// Whether they have been looked at since the last event.
  var isTaken = false
  var due = Int64.max
}
