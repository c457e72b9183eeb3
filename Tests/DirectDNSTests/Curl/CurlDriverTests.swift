// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

struct CurlDriverTests {
  @Test func `a transfer goes on at once that the end of a turn begins by a new multi handle`() throws {
    let wakeUp = try #require(WakeUp())
    let poller = try #require(Poller(wakeUp))
    let driver = try #require(LateDriver((), poller: poller, resumption: TaskResumption()))
    #expect(driver.turn(hasNews: true) <= driver.now)
    driver.stop()
    driver.close()
  }
}

/// Begins a transfer at the end of a turn, by its first multi handle.
private final class LateDriver: CurlDriver {
  private(set) var multis: [CurlMulti] = []
  var now = LoopTime.now
  var recheck = CurlRecheck()
  private let poller: Poller
  private let easy: CurlHandle

  init?(_ settings: (), poller: Poller, resumption: TaskResumption) {
    guard let easy = CurlHandle() else { return nil }
    self.poller = poller
    self.easy = easy
  }

  var isBusy: Bool { true }

  var isEmpty: Bool { false }

  func carryOut(_ command: ()) {}

  func takeSocketsToCork() -> [curl_socket_t] { [] }

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {}

  func receivedUnsolicited(on socket: CInt) {}

  func endTurn() -> Int64 {
    guard let multi = CurlMulti(index: 0, poller: poller) else { return .max }
    multis.append(multi)
    #expect(multi.add(easy))
    return .max
  }

  func stop() { for multi in multis { multi.remove(easy) } }
}
