// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The metrics of a process that has no descriptor to spare.
@Suite(.timeLimit(.minutes(1)))
struct MetricsDescriptorsTests {
  @Test(.enabled(if: ServerFixture.path(of: "curl") != nil, "needs curl"))
  func `a scrape is answered though silent clients have taken every descriptor`() async throws {
    let port = try LoopbackPort.free()
    let process = Process()
    let errors = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "ulimit -n 26; exec \"$0\" \"$@\"", Program.url.path, "warmup", "--keep-alive", "--min-success", "0",
      "--no-system", "--provider", "doh+http://127.0.0.1:9/dns-query", "--metrics", "127.0.0.1:\(port)", "localhost",
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = errors
    try ServerFixture.launch(process)
    defer {
      ServerFixture.send(SIGKILL, to: process)
      process.waitUntilExit()
    }
    try await Lifeline.shared.watch(process.processIdentifier)
    // By then it has opened all that it needs.
    var said = ""
    while !said.contains("keeping") {
      let more = errors.fileHandleForReading.availableData
      try #require(!more.isEmpty, "it ended: \(said)")
      said += String(decoding: more, as: UTF8.self)
    }
    // At the five seconds that each may take they would last for half a minute.
    let silent = try (0..<60).map { _ in try LoopbackPort.SilentClient(port) }
    for _ in 0..<3 {
      let curl = Process()
      let output = Pipe()
      curl.executableURL = URL(filePath: try #require(ServerFixture.path(of: "curl")))
      curl.arguments = ["-sS", "--noproxy", "*", "-m", "10", "http://127.0.0.1:\(port)/metrics"]
      curl.standardInput = FileHandle.nullDevice
      curl.standardOutput = output
      try ServerFixture.launch(curl)
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      curl.waitUntilExit()
      #expect(curl.terminationStatus == 0 && text.contains("directdns_"), "\(text.prefix(200))")
    }
    withExtendedLifetime(silent) {}
  }
}
