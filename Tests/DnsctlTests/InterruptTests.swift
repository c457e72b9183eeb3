// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNSConfiguration
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1)))
struct InterruptTests {
  /// A store that keeps an answer back until it is asked to end: what is not waited for is not stored.
  private final class SlowStore: AnswerStore {
    let base = MemoryAnswerStore(clock: StillClock())
    /// Opened by the test once the command has been told to end.
    let isOpen = Watched(false)

    var name: String { "slow" }

    func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] { base.read(questions) }

    func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
      // By a task of its own, which is not cancelled with the command's.
      await Task.detached { [isOpen] in _ = await isOpen.wait { $0 } }.value
      base.write(answers)
    }

    func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) { base.remove(questions) }
    func removeAll() async throws(DirectDNSError) { base.removeAll() }
    func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
      await base.visit(visit)
    }
  }

  @Test(
    arguments: [
      (["resolve", "--format", "short"], "www.example.com\n", "192.0.2.1\n"),
      (
        ["rewrite", "--allow", "192.0.2.0/24"], "{\"url\":\"http://www.example.com/\"}\n", "{\"outcome\":\"rewritten\""
      ),
      (["cache", "refresh", "--format", "short"], "www.example.com\n", "192.0.2.1\n"),
    ], [130, 143] as [Int32])
  func `what was learned before a signal is stored, and nothing more is written`(
    _ command: ([String], line: String, answer: String), _ signal: Int32
  ) async throws {
    let store = SlowStore()
    var fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.1"])], store: store)
    fixture.interruption = .init(rawValue: signal)
    fixture.input = ScriptedInput(chunks: [
      .init(text: command.line), .init(text: command.line) { try? await StillClock().sleep(until: StillClock().now) },
    ])
    var context = fixture.context
    let interruption = context.interruption
    context.interruption = {
      let status = await interruption()
      store.isOpen.change { $0 = true }
      return status
    }
    let arguments =
      command.0 + ["--provider", "google", "--no-system", "--family", "ipv4", "--store", "redis://cache", "-"]
    let parsed = try #require(try Dnsctl.parseAsRoot(arguments) as? any ContextCommand)
    #expect(await parsed.status(in: context).rawValue == signal)
    #expect(fixture.output.text.hasPrefix(command.answer) && fixture.errors.text == "", "\(fixture.errors.text)")
    let question = AddressQuestion(try HostName("www.example.com"), .ipv4)
    #expect(store.base.read([question]).count == 1)
  }

  @Test func `who writes behind a closed gate is told that nobody reads`() {
    let gate = OutputGate()
    let fixture = CommandFixture()
    let guarded = gate.guarding(fixture.context)
    try? guarded.output.write("a")
    #expect(!gate.isClosed)
    gate.close()
    #expect(gate.isClosed)
    #expect(throws: StreamError.closedPipe) { try guarded.output.write("b") }
    guarded.reportError("c")
    #expect(fixture.output.text == "a" && fixture.errors.text == "")
  }

  @Test func `a signal's status is not that of the output which it has closed`() async throws {
    for _ in 0..<100 {
      var context = CommandFixture().context
      context.interruption = { .terminated }
      let store = MemoryAnswerStore(clock: StillClock())
      let status = try await context.withResolver(DirectSettings(), storing: store) { _, context in
        while context.write("") == .answered { await Task.yield() }
        return .closedPipe
      }
      #expect(status == .terminated)
    }
  }
}
