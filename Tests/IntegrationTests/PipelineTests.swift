// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

/// The example that users begin from, as a process of its own: against nginx, with providers that die.
@Suite(
  "The webhook pipeline", .enabled(if: WebKind.missing.isEmpty, "not every server is installed"),
  .timeLimit(.minutes(2)))
struct PipelineTests {
  private static let names = [LabSite.www, LabSite.api]

  private func provider() async throws -> FakeProvider {
    var records = RecordTable()
    for name in Self.names { records.add(name, "127.0.0.1", ttl: 300) }
    return try await FakeProvider.start(records: records)
  }

  /// The configuration file: two providers, the fixture's authority, and loopback addresses where they are allowed.
  private func configuration(_ providers: [FakeProvider], _ server: NginxSite, allows: Bool = true) -> String {
    let urls = providers.map { "\"json+\($0.url("/resolve"))\"" }.joined(separator: ", ")
    return """
      {
        providers: [\(urls)], system: false, ca: ["\(server.caFile)"],
        addressPolicy: { allow: [\(allows ? "\"127.0.0.0/8\"" : "")] },
      }
      """
  }

  @Test func `it sends while every provider is dead, goes by its file, and starts again from its store`()
    async throws
  {
    try await NginxSite.running { server async throws in
      let folder = try ServerFixture.newFolder("pipeline")
      let providers = [try await provider(), try await provider()]
      let file = folder.appending(path: "directdns.json5")
      try configuration(providers, server).write(to: file, atomically: true, encoding: .utf8)
      try Self.names.joined(separator: "\n").write(
        to: folder.appending(path: "hosts"), atomically: true, encoding: .utf8)
      let hooks = Self.names.map { "https://\($0):\(server.port)/hook" }

      let pipeline = try PipelineProcess(in: folder)
      try pipeline.send(hooks)
      #expect(try await pipeline.outcomes(2).map(\.status) == [204, 204])
      #expect(try pipeline.log().contains("complete: 2 of 2 names have an address, 2 resolved"))

      for provider in providers { await provider.stop() }
      try pipeline.send(hooks + ["https://\(LabSite.mistaken):\(server.port)/hook"])
      let outcomes = try await pipeline.outcomes(5)
      #expect(outcomes.filter { $0.status == 204 && $0.address == "127.0.0.1" }.count == 4)
      // Nobody can say where it is: it was tried to the end.
      #expect(outcomes.last?.tries == 5 && outcomes.last?.error?.contains(LabSite.mistaken) == true)
      let metrics = try await pipeline.metrics()
      #expect(metrics.contains("directdns_requests_total{") && metrics.contains("directdns_warmup_names_total{"))

      // A file that is none changes nothing; the next one holds without a restart.
      try "{ addressPolicy: ".write(to: file, atomically: true, encoding: .utf8)
      pipeline.hangUp()
      try await pipeline.waitForLog("directdns.json5: line 1")
      try pipeline.send([hooks[0]])
      #expect(try await pipeline.outcomes(6).last?.status == 204)
      try configuration(providers, server, allows: false).write(to: file, atomically: true, encoding: .utf8)
      pipeline.hangUp()
      try await pipeline.waitForLog("addressPolicy")
      try pipeline.send([hooks[0]])
      #expect(try await pipeline.outcomes(7).last?.error?.contains("127.0.0.0/8") == true)
      #expect(try await pipeline.terminate() == 0)
      #expect(try await server.requests(5).count == 5)

      // Nobody is there to be asked, and it sends.
      try configuration(providers, server).write(to: file, atomically: true, encoding: .utf8)
      let next = try PipelineProcess(in: folder)
      try next.send(hooks)
      #expect(try await next.outcomes(2).map(\.status) == [204, 204])
      #expect(try next.log().contains("complete: 2 of 2 names have an address, 2 from the store"))
      // The end of its input is its own.
      #expect(try await next.end() == 0)
    }
  }

  @Test func `on SIGTERM it ends what it has begun, and begins nothing`() async throws {
    try await NginxSite.running { server async throws in
      let folder = try ServerFixture.newFolder("pipeline")
      let providers = [try await provider()]
      try configuration(providers, server).write(
        to: folder.appending(path: "directdns.json5"), atomically: true, encoding: .utf8)
      try Self.names[0].write(to: folder.appending(path: "hosts"), atomically: true, encoding: .utf8)
      let gate = Gate()
      let slow = try await FakeOrigin.start { _ in
        try await gate.pass()
        return OriginResponse(body: "late")
      }
      let pipeline = try PipelineProcess(in: folder)
      try pipeline.send(["http://127.0.0.1:\(slow.port)/"])
      await gate.waitForArrivals()
      let end = Task { try await pipeline.terminate() }
      try await pipeline.waitForLog("nothing more is begun")
      gate.open()
      #expect(try await end.value == 0)
      #expect(try await pipeline.outcomes(1).map(\.status) == [200])
      for provider in providers { await provider.stop() }
      await slow.stop()
    }
  }
}

/// A run of `Examples/Pipeline`.
private final class PipelineProcess: Sendable {
  struct Outcome: Decodable {
    var id: String
    var tries: Int
    var status: Int?
    var address: String?
    var error: String?
  }

  private let process = Process()
  private let input = Pipe()
  private let output: URL
  private let errors: URL
  private let port: UInt16

  init(in folder: URL) throws {
    port = try LoopbackPort.free()
    let run = folder.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: run, withIntermediateDirectories: true)
    (output, errors) = (run.appending(path: "results.jsonl"), run.appending(path: "log"))
    try Data().write(to: output)
    try Data().write(to: errors)
    process.executableURL = ServerFixture.product("Pipeline")
    let files = ["directdns.json5", "hosts", "answers.sqlite"].map { folder.appending(path: $0).path }
    process.arguments = files + ["\(port)"]
    process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
    process.standardInput = input
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try ServerFixture.launch(process)
  }

  deinit { ServerFixture.send(SIGKILL, to: process) }

  func send(_ urls: [String]) throws {
    for url in urls {
      let line = #"{"id": "\#(UUID().uuidString)", "url": "\#(url)", "body": "{}"}"# + "\n"
      try input.fileHandleForWriting.write(contentsOf: Data(line.utf8))
    }
  }

  /// What became of so many deliveries, in the order of their ends.
  func outcomes(_ count: Int) async throws -> [Outcome] {
    try await eventually("\(count) outcomes") {
      let lines = try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
      return lines.count < count ? nil : try lines.map { try JSONDecoder().decode(Outcome.self, from: Data($0.utf8)) }
    }
  }

  func log() throws -> String { try String(contentsOf: errors, encoding: .utf8) }

  func waitForLog(_ text: String) async throws {
    _ = try await eventually("\"\(text)\" in its log") { try log().contains(text) ? true : nil }
  }

  func metrics() async throws -> String {
    let reply = try await ServerFixture.run("curl", ["--silent", "--noproxy", "*", "http://127.0.0.1:\(port)/metrics"])
    return String(decoding: reply.output, as: UTF8.self)
  }

  func hangUp() { ServerFixture.send(SIGHUP, to: process) }

  func terminate() async throws -> Int32 {
    ServerFixture.send(SIGTERM, to: process)
    return try await exitStatus()
  }

  /// Ends its input.
  func end() async throws -> Int32 {
    try input.fileHandleForWriting.close()
    return try await exitStatus()
  }

  private func exitStatus() async throws -> Int32 {
    try await eventually("its end") { process.isRunning ? nil : process.terminationStatus }
  }

  /// Files and processes tell nobody when they change: they are looked at until it is so.
  private func eventually<Value>(_ what: String, _ value: () throws -> Value?) async throws -> Value {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
      if let value = try value() { return value }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw ServerFixture.Failure("the pipeline did not come to \(what):\n\((try? log()) ?? "")")
  }
}
