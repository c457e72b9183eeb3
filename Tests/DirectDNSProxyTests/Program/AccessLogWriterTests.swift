// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Dispatch
import DnsctlCommands
import Synchronization
import Testing

@testable import dnsctl_proxy

@Suite("The writer of the access log", .timeLimit(.minutes(1)))
struct AccessLogWriterTests {
  /// A reader that takes nothing until it is let go.
  private final class Reader: OutputSink {
    let isAsked = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    private let state = Mutex("")

    var text: String { state.withLock(\.self) }

    func write(_ text: String) throws(StreamError) {
      isAsked.signal()
      goOn.wait()
      state.withLock { $0 += text }
    }

    func write(_ bytes: [UInt8]) throws(StreamError) { try write(String(decoding: bytes, as: UTF8.self)) }
  }

  @Test func `a reader that is stuck holds nobody up, and what finds no room is counted`() {
    let reader = Reader()
    let log = AccessLogWriter(.combined, showsPaths: false, reader, clock: SystemClock())
    log.write(ProxyAccess(.http))
    reader.isAsked.wait()
    // The first one is being written; these wait, and the last three cannot.
    for _ in 0..<AccessLogWriter.room + 3 { log.write(ProxyAccess(.http)) }
    // The process ends all the same.
    #expect(!log.flush(within: .milliseconds(1)))
    #expect(reader.text == "")
    for _ in 0..<3 { reader.goOn.signal() }
    #expect(log.flush(within: .seconds(20)))
    let lines = reader.text.split(separator: "\n")
    #expect(lines.count == AccessLogWriter.room + 2)
    #expect(lines.last == "# 3 lines found no room")
  }
}
