// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `Names from standard input` {
  private func fixture(_ texts: [String], end: StreamError? = nil) -> CommandFixture {
    var zone: [String: Zone.Entry] = [:]
    for number in 1...200 { zone["host\(number).example"] = .addresses(["192.0.2.\(number)"]) }
    return CommandFixture(zone: zone, input: ScriptedInput(texts, end: end))
  }

  private let arguments = ["--provider", "google", "--format", "short"]

  @Test func `come one a line; blank lines and comments are skipped`() async {
    let fixture = fixture([
      "\u{feff}host1.example # the first\r\n\n  # a comment\n", "  host2.exa",
      "mple  \n\t\nhost3.example# and the last",
    ])
    let outcome = await fixture.resolve(arguments + ["-"])
    #expect(outcome == CommandFixture.Outcome(status: 0, output: "192.0.2.1\n192.0.2.2\n192.0.2.3\n", errors: ""))
  }

  @Test func `stand where the mark stands among the arguments`() async {
    let outcome = await fixture(["host2.example\n"]).resolve(
      arguments + ["host1.example", "-", "host3.example"])
    #expect(outcome.output == "192.0.2.1\n192.0.2.2\n192.0.2.3\n")
  }

  @Test func `are answered before the input ends`() async {
    var fixture = fixture([])
    let output = fixture.output
    fixture.input = ScriptedInput(chunks: [
      .init(text: "host1.example\n"),
      // The second name comes only when the first one's answer is out.
      .init(text: "host2.example\n") { await output.hasWritten(1) },
    ])
    #expect(await fixture.resolve(arguments + ["-"]).output == "192.0.2.1\n192.0.2.2\n")
    #expect(output.writes == ["192.0.2.1\n", "192.0.2.2\n"])
  }

  @Test func `are answered in the order of asking, however long each takes`() async throws {
    let gate = Gate()
    let order = Locked<[String]>([])
    let pipeline = OrderedPipeline(input: ScriptedInput(["slow\nfast1\nfast2\n"])) { item in
      let host = item.text
      if host == "slow" { await gate.opened() } else if host == "fast2" { gate.open() }
      return Self.outcome(host)
    }
    try await pipeline.run(["-"]) { outcomes in order.withLock { $0 += outcomes.map(\.host) } }
    #expect(order.withLock { $0 } == ["slow", "fast1", "fast2"])
  }

  @Test func `are looked up side by side, so many at a time and no more`() async throws {
    let running = Locked((now: 0, most: 0))
    let gate = Gate()
    let names = (1...300).map { "host\($0)" }
    let pipeline = OrderedPipeline(input: ScriptedInput([names.joined(separator: "\n")])) { item in
      let isFull = running.withLock { running in
        running.now += 1
        running.most = max(running.most, running.now)
        return running.now == Pipeline.width
      }
      // All wait until as many as may run at a time do run.
      if isFull { gate.open() }
      await gate.opened()
      running.withLock { $0.now -= 1 }
      return Self.outcome(item.text)
    }
    let answered = Locked<[String]>([])
    try await pipeline.run(["-"]) { outcomes in answered.withLock { $0 += outcomes.map(\.host) } }
    #expect(answered.withLock { $0 } == names)
    #expect(running.withLock { $0.most } == Pipeline.width)
  }

  @Test func `are not read ahead of a slow name without bound`() async throws {
    let gate = Gate()
    let started = Locked(0)
    let input = ScriptedInput(
      ["slow\n"] + (1...40).map { chunk in (1...100).map { "host\(chunk)-\($0)\n" }.joined() })
    let pipeline = OrderedPipeline(input: input) { item in
      let count = started.withLock { count in
        count += 1
        return count
      }
      if item.text == "slow" { await gate.opened() }
      // The last name that the window has room for lets the slow one go.
      if count == Pipeline.window {
        #expect(input.reads.withLock { $0 } <= Pipeline.window / 100 + 2)
        gate.open()
      }
      return Self.outcome(item.text)
    }
    let count = Locked(0)
    try await pipeline.run(["-"]) { outcomes in count.withLock { $0 += outcomes.count } }
    #expect(count.withLock { $0 } == 4001)
  }

  @Test func `end quietly when the reader of the answers has gone`() async {
    var fixture = fixture([])
    fixture.output.close(after: 1)
    let output = fixture.output
    fixture.input = ScriptedInput(chunks: [
      .init(text: "host1.example\n"), .init(text: "host2.example\n") { await output.hasWritten(1) },
      // A person who types nothing more does not keep the command alive.
      .init(text: "") { await Gate().opened() },
    ])
    let outcome = await fixture.resolve(arguments + ["-"])
    #expect(outcome == CommandFixture.Outcome(status: 141, output: "192.0.2.1\n", errors: ""))
  }

  @Test func `that cannot be read are an error of their own, behind the answers to those before`() async {
    let outcome = await fixture(["host1.example\nhost2.ex"], end: .failed("Is a directory")).resolve(arguments + ["-"])
    #expect(outcome.status == 74)
    #expect(outcome.output == "192.0.2.1\n")
    #expect(outcome.errors == "dnsctl: standard input cannot be read: Is a directory.\n")
  }

  @Test func `of any length and any bytes are answered with an error each`() async {
    let endless = String(repeating: "x", count: 1_000_000)
    let outcome = await fixture([endless, endless, "\nhost1.example\n"]).resolve(arguments + ["-"])
    #expect(outcome.status == 1)
    #expect(outcome.output == "192.0.2.1\n")
    var lines = LineSplitter()
    let items = lines.feed(Array("a\0b\n".utf8) + [0xff, 0x0a])
    #expect(items == [.line("a\0b", number: 1), .line("\u{fffd}", number: 2)])
  }

  @Test func `an empty input is no error`() async {
    #expect(await fixture([]).resolve(arguments + ["-"]) == CommandFixture.Outcome(status: 0, output: "", errors: ""))
  }

  private static func outcome(_ host: String) -> LookupOutcome {
    LookupOutcome(host: host, result: .failure(DirectDNSError(.nameNotFound, "")), elapsed: .zero)
  }
}

/// Opens once, for all who wait.
private final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func opened() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
