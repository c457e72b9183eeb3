// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import DirectDNSTesting
  import Foundation
  import Testing

  /// `dnsctl` at a terminal, and what goes on while it runs on.
  @Suite("dnsctl at a terminal", .timeLimit(.minutes(2)))
  struct TerminalTests {
    private let folder: URL

    init() throws { folder = try ServerFixture.newFolder("terminal") }

    private func provider() async throws -> FakeProvider {
      var records = RecordTable()
      for name in ["www.example.test", "api.example.test"] { records.add(name, "192.0.2.1", ttl: 300) }
      return try await FakeProvider.start(records: records)
    }

    private func configure(_ provider: FakeProvider, _ more: String = "") throws {
      try "{ providers: [\"json+\(provider.url("/resolve"))\"], system: false, \(more) }".write(
        to: folder.appending(path: "c.json5"), atomically: true, encoding: .utf8)
    }

    @Test func `watch goes by its file as that changes, tells its keys, and q gives the terminal back`() async throws {
      let provider = try await provider()
      try configure(provider)
      let terminal = try PseudoTerminal(
        ["watch", "--config", "c.json5", "--interval", "0.1", "www.example.test"], in: folder)
      try await terminal.waitFor(text: "1 name ")
      #expect(!terminal.isInLineMode)
      try terminal.type("?")
      try await terminal.waitFor(text: "q quit")
      try configure(provider, "keepAlive: ['api.example.test'],")
      try await terminal.waitFor(text: "configuration: keepAlive: +api.example.test")
      try await terminal.waitFor(text: "2 names ")
      try terminal.type("q")
      #expect(try await terminal.exitStatus() == 0)
      #expect(terminal.isInLineMode)
      await provider.stop()
    }

    // Ctrl-\ is SIGQUIT, and a terminal that goes sends SIGHUP.
    @Test(arguments: [(SIGTERM, 143), (SIGINT, -SIGINT), (SIGQUIT, -SIGQUIT), (SIGHUP, -SIGHUP)] as [(Int32, Int32)])
    func `watch gives the terminal back after a signal too`(_ signal: Int32, _ status: Int32) async throws {
      let provider = try await provider()
      try configure(provider)
      let terminal = try PseudoTerminal(["watch", "--config", "c.json5", "www.example.test"], in: folder)
      try await terminal.waitFor(text: "fresh")
      ServerFixture.send(signal, to: terminal.process)
      try await terminal.waitFor(text: "\u{1b}[?25h\u{1b}[?1049l")
      #expect(try await terminal.exitStatus() == status)
      #expect(terminal.isInLineMode)
      await provider.stop()
    }

    @Test func `watch fits the window when standard error goes to a file, too`() async throws {
      let provider = try await provider()
      try configure(provider)
      let terminal = try PseudoTerminal(
        ["watch", "--config", "c.json5", "--interval", "0.1", "www.example.test"], in: folder, errors: .nullDevice)
      try await terminal.waitFor(text: "LAST ERROR")
      terminal.resize(rows: 10, columns: 40)
      try await terminal.waitFor("narrow lines") { text in
        text.components(separatedBy: "\u{1b}[H").dropLast().last?.contains("NAME") ?? false
          && text.components(separatedBy: "\u{1b}[H").dropLast().last?.contains("LAST ERROR") == false
      }
      try terminal.type("q")
      #expect(try await terminal.exitStatus() == 0)
      await provider.stop()
    }

    @Test func `watch that is stopped gives the terminal back, and takes it again when it goes on`() async throws {
      let provider = try await provider()
      try configure(provider)
      let terminal = try PseudoTerminal(
        ["watch", "--config", "c.json5", "--interval", "3600", "www.example.test"], in: folder)
      try await terminal.waitFor(text: "1 name ")
      ServerFixture.send(SIGTSTP, to: terminal.process)
      try await terminal.waitFor("a stop") { _ in terminal.isStopped }
      try await terminal.waitFor(text: "\u{1b}[?25h\u{1b}[?1049l")
      #expect(terminal.isInLineMode)
      ServerFixture.send(SIGCONT, to: terminal.process)
      let taken = "\u{1b}[?1049h\u{1b}[?25l"
      try await terminal.waitFor("the picture") { text in
        let pictures = text.components(separatedBy: taken)
        return pictures.count == 3 && pictures[2].contains("1 name ")
      }
      #expect(!terminal.isInLineMode)
      try terminal.type("q")
      #expect(try await terminal.exitStatus() == 0)
      #expect(terminal.isInLineMode)
      await provider.stop()
    }

    @Test func `keeping names warm goes by its file at a terminal, whose end is its own`() async throws {
      let provider = try await provider()
      try configure(provider)
      let terminal = try PseudoTerminal(
        ["warmup", "--keep-alive", "--config", "c.json5", "www.example.test"], in: folder)
      try await terminal.waitFor(text: "keeping 1 name fresh")
      try configure(provider, "timeout: 2,")
      try await terminal.waitFor(text: "configuration: timeout: ")
      ServerFixture.send(SIGHUP, to: terminal.process)
      #expect(try await terminal.exitStatus() == -SIGHUP)
      await provider.stop()
    }

    @Test func `an interrupt is what ends it, for shells to end their loops and scripts`() async throws {
      let terminal = try PseudoTerminal(["compare", "-"], in: folder)
      try terminal.type("localhost\n")
      try await terminal.waitFor(text: "no provider is asked")
      ServerFixture.send(SIGINT, to: terminal.process)
      #expect(try await terminal.exitStatus() == -SIGINT)
    }

    @Test func `what resolve has learned when it is interrupted is stored`() async throws {
      var records = RecordTable()
      let names = (1...100).map { "host\($0).example.test" }
      for name in names { records.add(name, "192.0.2.1", ttl: 300) }
      let provider = try await FakeProvider.start(records: records)
      try configure(provider)
      let terminal = try PseudoTerminal(
        ["resolve", "--config", "c.json5", "--family", "ipv4", "--store", "./answers.sqlite", "-"], in: folder)
      try terminal.type(names.joined(separator: "\n") + "\n")
      try await terminal.waitFor(text: "host100.example.test  192.0.2.1")
      ServerFixture.send(SIGINT, to: terminal.process)
      #expect(try await terminal.exitStatus() == -SIGINT)
      let program = try Program()
      let store = folder.appending(path: "answers.sqlite").path
      let list = try await program.run(["cache", "list", "--format", "short", "--store", store])
      #expect(list.output.split(separator: "\n").count == 100, "\(list)")
      await provider.stop()
    }
  }
#endif
