// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The examples that users begin from, as processes of their own: what they say to ordinary mistakes.
@Suite("The examples", .timeLimit(.minutes(2)))
struct ExamplesTests {
  private struct Outcome {
    var status: Int32
    var wasKilled: Bool
    var output: String
    var errors: String
  }

  /// Runs an example to its end.
  private func run(_ program: String, _ arguments: [String], input: String = "") async throws -> Outcome {
    let folder = try ServerFixture.newFolder("example")
    let files = ["input", "output", "errors"].map { folder.appending(path: $0) }
    try input.write(to: files[0], atomically: false, encoding: .utf8)
    for file in files[1...] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = ServerFixture.product(program)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in continuation.yield() }
    try ServerFixture.launch(process)
    _ = await ended.first { true }
    return Outcome(
      status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
      output: try String(contentsOf: files[1], encoding: .utf8),
      errors: try String(contentsOf: files[2], encoding: .utf8))
  }

  /// A mistake, and how it ends.
  struct Mistake: Sendable, CustomTestStringConvertible {
    var program: String
    var arguments: [String]
    var status: Int32
    var says: String

    var testDescription: String { "\(program) \(arguments.joined(separator: " "))" }
  }

  @Test(arguments: [
    Mistake(program: "Resolve", arguments: ["nowhere.invalid"], status: 1, says: "nowhere.invalid does not exist"),
    Mistake(program: "Resolve", arguments: ["a..b"], status: 1, says: "has an empty label"),
    Mistake(program: "Send", arguments: ["x:/"], status: 1, says: "Send: "),
    Mistake(program: "Send", arguments: ["http://nowhere.invalid/"], status: 1, says: "nowhere.invalid does not exist"),
    Mistake(program: "Pipeline", arguments: ["c", "h", "s", "port"], status: 64, says: "usage: Pipeline CONFIG"),
    Mistake(program: "Pipeline", arguments: ["c", "h"], status: 64, says: "usage: Pipeline CONFIG"),
    Mistake(program: "Pipeline", arguments: ["none.json5", "h", "s"], status: 78, says: "none.json5: "),
    Mistake(program: "Demo", arguments: ["--hilfe"], status: 64, says: "usage: Demo"),
  ])
  func `an ordinary mistake is told in words`(_ mistake: Mistake) async throws {
    let outcome = try await run(mistake.program, mistake.arguments)
    #expect(outcome.status == mistake.status && !outcome.wasKilled, "\(outcome)")
    #expect(outcome.errors.contains(mistake.says) && !outcome.errors.contains("Fatal error"), "\(outcome.errors)")
  }

  @Test func `a pipeline without its list of hosts says so, whatever waits on its standard input`() async throws {
    let folder = try ServerFixture.newFolder("pipeline")
    let configuration = folder.appending(path: "directdns.json5")
    try #"{ providers: ["doh+https://127.0.0.1:9/dns-query"], system: false }"#.write(
      to: configuration, atomically: true, encoding: .utf8)
    let deliveries = (0..<1000).map { #"{"id": "\#($0)", "url": "http://127.0.0.1:9/", "body": "{}"}"# + "\n" }.joined()
    for input in ["", deliveries] {
      let outcome = try await run("Pipeline", [configuration.path, "no-hosts", "answers.sqlite"], input: input)
      #expect(outcome.status == 1 && !outcome.wasKilled, "\(outcome)")
      #expect(outcome.errors.contains("Pipeline: ") && outcome.errors.contains("no-hosts"), "\(outcome.errors)")
    }
  }

  @Test func `the demonstration explains itself`() async throws {
    let outcome = try await run("Demo", ["--help"])
    #expect(outcome.status == 0 && outcome.output.contains("Demo --serve") && outcome.errors == "")
  }
}
