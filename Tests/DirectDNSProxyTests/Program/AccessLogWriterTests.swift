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
    let proceed = DispatchSemaphore(value: 0)
    private let state = Mutex("")

    var text: String { state.withLock(\.self) }

    func write(_ text: String) throws(StreamError) {
      isAsked.signal()
      proceed.wait()
      state.withLock { $0 += text }
    }

    func write(_ bytes: [UInt8]) throws(StreamError) { try write(String(decoding: bytes, as: UTF8.self)) }
  }

  @Test func `a reader that is stuck holds nobody up, and what finds no room is counted`() {
    let reader = Reader()
    let log = AccessLogWriter(.combined, showsPaths: false, reader, clock: SystemClock()) { _ in }
    log.write(ProxyAccess(.http))
    reader.isAsked.wait()
    // The first one is being written; these wait, and the last three cannot.
    let size = AccessLogFormat.combined.line(
      ProxyAccess(.http), showsPath: false, ended: SystemClock().wallNow
    ).utf8.count
    let room = AccessLogWriter.room / size
    for _ in 0..<room + 3 { log.write(ProxyAccess(.http)) }
    // The process ends all the same.
    #expect(!log.flush(within: .milliseconds(1)))
    #expect(reader.text == "")
    for _ in 0..<3 { reader.proceed.signal() }
    #expect(log.flush(within: .seconds(20)))
    let lines = reader.text.split(separator: "\n")
    #expect(lines.count == room + 2)
    #expect(lines.last == "# 3 lines found no room")
  }

  @Test(arguments: [true, false]) func `whoever watches the proxy stands in the log where that was asked for`(
    showsProbes: Bool
  ) {
    let reader = Reader()
    let log = AccessLogWriter(.combined, showsPaths: true, showsProbes: showsProbes, reader, clock: SystemClock()) {
      _ in
    }
    for path in ["/live", "/proxy.pac", "/ready"] {
      var access = ProxyAccess(.http, method: "GET")
      (access.path, access.isProbe) = (path, path != "/proxy.pac")
      reader.proceed.signal()
      log.write(access)
      #expect(log.flush(within: .seconds(20)))
    }
    #expect(reader.text.split(separator: "\n").count == (showsProbes ? 3 : 1))
    #expect(reader.text.contains("/proxy.pac"))
  }

  /// One that can be full, and has room again.
  private final class Disk: OutputSink {
    let isFull = Mutex(true)

    func write(_ text: String) throws(StreamError) {
      if isFull.withLock(\.self) { throw .failed("No space left on device") }
    }

    func write(_ bytes: [UInt8]) throws(StreamError) { try write("") }
  }

  @Test func `lines that cannot be written are told of once, and once more after some could be`() {
    let disk = Disk()
    let said = Mutex<[String]>([])
    let log = AccessLogWriter(.json, showsPaths: false, disk, clock: SystemClock()) { text in
      said.withLock { $0.append(text) }
    }
    for isFull in [true, true, false, true, true] {
      disk.isFull.withLock { $0 = isFull }
      log.write(ProxyAccess(.http))
      #expect(log.flush(within: .seconds(20)))
    }
    let text = "the access log cannot be written: No space left on device. Requests go on, and their lines are lost."
    #expect(said.withLock(\.self) == [text, text])
  }
}
