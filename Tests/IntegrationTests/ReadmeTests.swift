// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import Demo

/// The README against reality: every console block is run as it stands, and what it shows is compared with what comes.
@Suite("The README", .timeLimit(.minutes(5)))
struct ReadmeTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func page() throws -> String {
    try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
  }

  @Test func `every console block is run, or says why it cannot be`() async throws {
    let blocks = try ReadmeBlock.all(Self.page())
    #expect(blocks.count > 20)
    let kinds = Dictionary(grouping: blocks) { block in
      switch block.kind {
      case .run: "run"
      case .excerpt: "excerpt"
      case .notRun: "not run"
      }
    }
    #expect((kinds["run"]?.count ?? 0) >= 14 && (kinds["not run"]?.count ?? 0) <= 7, "\(kinds.mapValues(\.count))")
    var scenes = ReadmeScene.all
    for block in kinds["run"] ?? [] {
      let text = block.text.joined(separator: "\n")
      guard let index = scenes.firstIndex(where: { text.contains($0.phrase) }) else {
        Issue.record("README.md:\(block.line): no scene for this block; add one to ReadmeScene, or say not-run")
        continue
      }
      let scene = scenes.remove(at: index)
      let play = try await ReadmePlay()
      try await scene.prepare(play)
      for (number, step) in block.steps.enumerated() {
        if number == 1 { await scene.between(play) }
        let written = try await play.run(step.command)
        let difference = ReadmeBlock.difference(step.shown, written)
        #expect(difference == nil, "README.md:\(block.line): $ \(step.command)\n\(difference ?? "")")
      }
      await play.end()
    }
    #expect(scenes.map(\.phrase) == [], "scenes of blocks that are no more")
  }

  @Test func `what is shown of a program is in what it prints`() async throws {
    let play = try await ReadmePlay()
    for block in try ReadmeBlock.all(Self.page()) {
      guard case .excerpt(let program) = block.kind else { continue }
      let missing = ReadmeBlock.missing(block.text, in: try await play.run(program))
      #expect(missing == nil, "README.md:\(block.line): \(missing ?? "")")
    }
    await play.end()
  }

  @Test(arguments: ["Resolve", "Send"]) func `the programs that it shows are the examples`(_ name: String) throws {
    let example = try String(contentsOf: Self.root.appending(path: "Examples/\(name)/\(name).swift"), encoding: .utf8)
    // The licence's line is the file's business.
    let shown = example.replacing("// SPDX-License-Identifier: Apache-2.0\n", with: "")
    #expect(try Self.page().contains("```swift\n\(shown)```"))
  }

  @Test func `a block that says something else is an error, and what differs is told`() throws {
    for fence in ["not-run", "not-run:", "of:", "skipped: why", "of"] {
      #expect(throws: ServerFixture.Failure.self) { try ReadmeBlock.all("```console \(fence)\n$ x\n```\n") }
    }
    let block = try #require(
      try ReadmeBlock.all("```swift\n$ no\n```\n```console\n$ a \\\n  b\nc 7 ms\n…\nd\n```\n").first)
    #expect(block.line == 4 && block.steps.count == 1 && block.steps[0].command == "a \\\n  b")
    let shown = block.steps[0].shown
    #expect(ReadmeBlock.difference(shown, "c 12.3 ms\nx\ny\nd\n") == nil)
    #expect(ReadmeBlock.difference(shown, "c 12.3 ms\nx\ny\n") != nil)
    #expect(ReadmeBlock.difference(shown, "e 12.3 ms\nd\n") != nil)
    #expect(ReadmeBlock.difference(shown, "c 12.3 ms\nd\nf\n") != nil)
    #expect(ReadmeBlock.difference(["a … c"], "a b c") == nil && ReadmeBlock.difference(["a … c"], "a b d") != nil)
    #expect(ReadmeBlock.difference(["192.0.2.1"], "192.0.2.2") != nil)
  }
}
