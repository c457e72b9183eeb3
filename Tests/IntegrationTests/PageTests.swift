// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import Demo

/// The README and the documentation against reality: every console block is run as it stands, and what it shows is compared
/// with what comes.
@Suite("The pages", .timeLimit(.minutes(5)))
struct PageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The README first, then all others by name.
  private static func pages() throws -> [String] {
    let articles = "Sources/DirectDNS/DirectDNS.docc"
    let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: articles).path)
    return ["README.md", "Examples/README.md", "Benchmarks/README.md", "CONTRIBUTING.md"]
      + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(articles)/\($0)" }
  }

  private static func blocks() throws -> [PageBlock] {
    try pages().flatMap { page in
      try PageBlock.all(String(contentsOf: root.appending(path: page), encoding: .utf8), of: page)
    }
  }

  @Test func `every console block is run, or says why it cannot be`() async throws {
    let blocks = try Self.blocks()
    let notRun = blocks.count { if case .notRun = $0.kind { true } else { false } }
    #expect(blocks.count > 25 && notRun <= 6, "\(blocks.count) blocks, \(notRun) not run")
    var setups = PageSetup.all
    var last: PageFixture?
    for block in blocks where block.kind == .run {
      let text = block.text.joined(separator: "\n")
      guard let index = setups.firstIndex(where: { text.contains($0.phrase) }) else {
        Issue.record("\(block.place): no set-up for this block; add one to PageSetup, or say not-run")
        continue
      }
      let setup = setups.remove(at: index)
      if !setup.goesOn {
        await last?.end()
        last = nil
      }
      let fixture = if let last { last } else { try await PageFixture() }
      last = fixture
      try await setup.prepare(fixture)
      for step in block.steps {
        let written = try await fixture.run(step.command)
        let difference = PageBlock.difference(step.shown, written)
        #expect(difference == nil, "\(block.place): $ \(step.command)\n\(difference ?? "")")
      }
    }
    await last?.end()
    #expect(setups.map(\.phrase) == [], "set-ups of blocks that are no more")
  }

  @Test func `what is shown of a program is in what it prints`() async throws {
    let fixture = try await PageFixture()
    // What a make target runs, with the programs that are built.
    let programs = ServerFixture.product("Demo").deletingLastPathComponent().path
    let pipeline = "\(Self.root.path)/Scripts/pipeline --built \(programs)"
    var printed: [String: String] = [:]
    for block in try Self.blocks() {
      guard case .excerpt(let program) = block.kind else { continue }
      if printed[program] == nil {
        printed[program] = try await fixture.run(program == "make pipeline" ? pipeline : program)
      }
      let missing = PageBlock.missing(block.text, in: printed[program] ?? "")
      #expect(missing == nil, "\(block.place): \(missing ?? "")")
    }
    #expect(printed.count == 2)
    await fixture.end()
  }

  // The compiler's work, which is the same for a release build.
  #if DEBUG
    @Test(.enabled(if: ServerFixture.path(of: "python3") != nil, "python3 is not installed"))
    func `a Swift block that does not compile, or is not what its file says, is named with its line`() async throws {
      let page = try ServerFixture.newFolder("snippets").appending(path: "page.md")
      let modules = ServerFixture.product("Demo").deletingLastPathComponent().path
      let command = "'\(Self.root.path)/Scripts/snippets' --modules '\(modules)' '\(page.path)' 2>&1"
      for (text, fault) in [
        (
          "```swift\nprint(try await resolver.resolve(\"a.example\").addresses)\n```\n"
            + "<!-- given: let port = 80 -->\n```swift\nprint(port)\n```\n", nil
        ),
        ("```swift\nprint(1)\nlet port: Int = \"80\"\n```\n", ":3:"),
        ("```swift\nlet names: [String]\nprint(names)\n```\n", ":3:"),
        (
          "<!-- of: Examples/Resolve/Resolve.swift -->\n```swift\nprint(nothing)\n```\n", ":3: these lines do not stand"
        ),
        ("<!-- of: Examples/None.swift -->\n```swift\nprint(nothing)\n```\n", ":3: there is no Examples/None.swift"),
      ] as [(String, String?)] {
        try text.write(to: page, atomically: true, encoding: .utf8)
        let ended = try await ServerFixture.run("bash", ["-c", command])
        let said = String(decoding: ended.output, as: UTF8.self)
        #expect((ended.status == 0) == (fault == nil), "\(text)\(said)")
        #expect(said.contains(fault.map { "page.md\($0)" } ?? "2 blocks compile"), "\(text)\(said)")
      }
    }
  #endif

  @Test func `every article has a block that is run or compiled`() throws {
    for page in try Self.pages() where page.contains(".docc/") {
      let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
      let isRun = try PageBlock.all(text, of: page).contains { $0.kind == .run }
      #expect(isRun || text.contains("\n```swift\n"), "\(page)")
    }
  }

  @Test func `every link of a page leads to a file, and every heading that it names is there`() throws {
    for page in try Self.pages() {
      let file = Self.root.appending(path: page)
      for link in try String(contentsOf: file, encoding: .utf8).matches(of: #/(?:\]\(|srcset="|src=")([^)"\s]+)/#) {
        let parts = link.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        // DocC finds its pictures, and looks at its links, by itself.
        guard !parts[0].contains("://"), page.hasSuffix("README.md") || page == "CONTRIBUTING.md" else { continue }
        let target = parts[0].isEmpty ? file : file.deletingLastPathComponent().appending(path: parts[0]).standardized
        #expect(FileManager.default.fileExists(atPath: target.path), "\(page): \(link.1)")
        guard parts.count == 2 else { continue }
        let headings = try String(contentsOf: target, encoding: .utf8).matches(of: #/(?m)^#+ (.*)$/#).map {
          $0.1.lowercased().replacing(#/[^\w\s-]/#, with: "").replacing(" ", with: "-")
        }
        #expect(headings.contains(parts[1]), "\(page): \(link.1)")
      }
    }
  }

  @Test func `a block that says something else is an error, and what differs is told`() throws {
    for fence in ["not-run", "not-run:", "of:", "skipped: why", "of"] {
      #expect(throws: ServerFixture.Failure.self) { try PageBlock.all("```console \(fence)\n$ x\n```\n", of: "page") }
    }
    #expect(throws: ServerFixture.Failure.self) { try PageBlock.all("```\n$ x\n```\n", of: "page") }
    let block = try #require(
      try PageBlock.all(
        "```swift\nno\n```\n```console\n$ a \\\n  b\nc 7 ms\n…\nd\n```\n", of: "page"
      ).first)
    #expect(block.line == 4 && block.steps.count == 1 && block.steps[0].command == "a \\\n  b")
    let shown = block.steps[0].shown
    #expect(PageBlock.difference(shown, "c 12.3 ms\nx\ny\nd\n") == nil)
    #expect(PageBlock.difference(shown, "c 12.3 ms\nx\ny\n") != nil)
    #expect(PageBlock.difference(shown, "e 12.3 ms\nd\n") != nil)
    #expect(PageBlock.difference(shown, "c 12.3 ms\nd\nf\n") != nil)
    #expect(PageBlock.difference(["a … c"], "a b c") == nil && PageBlock.difference(["a … c"], "a b d") != nil)
    #expect(PageBlock.difference(["192.0.2.1"], "192.0.2.2") != nil)
  }
}
