// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `.ci/run`, with steps that do nothing.
@Suite(.timeLimit(.minutes(1)))
struct CIRunTests {
  private let folder: URL

  init() throws {
    folder = try ServerFixture.newFolder("ci")
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    // What `make install` would have put there.
    let completion = "clone/.build/staging/usr/share/bash-completion/completions"
    for path in ["bin", "clone/.ci", "clone/Scripts", "clone/Trust", completion] {
      try FileManager.default.createDirectory(at: folder.appending(path: path), withIntermediateDirectories: true)
    }
    try Data("complete".utf8).write(to: folder.appending(path: "\(completion)/dnsctl"))
    try FileManager.default.copyItem(at: root.appending(path: ".ci/run"), to: run)
    let scripts = ["test", "prerequisites", "coverage", "examples", "release"].map { "clone/Scripts/\($0)" }
    for path in ["bin/make", "bin/swift", "clone/Trust/torture", "clone/Trust/crashes"] + scripts {
      let program = folder.appending(path: path)
      try Data("#!/bin/sh\n[ \"$*\" != \"$FAILING\" ] || exit 3\n".utf8).write(to: program)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
    }
  }

  private var run: URL { folder.appending(path: "clone/.ci/run") }

  /// How a run ends, and its last line without the time that it took.
  private func outcome(_ variables: [String] = []) async throws -> String {
    let path = "PATH=\(folder.appending(path: "bin").path):/usr/bin:/bin"
    let ended = try await ServerFixture.run("env", ["-i", path] + variables + ["bash", run.path])
    let last = String(decoding: ended.output, as: UTF8.self).split(separator: "\n").last ?? ""
    return "status \(ended.status)\(last.drop { $0 != ";" })"
  }

  private func make(suites: Bool = true, seconds: Int? = nil) throws {
    for path in suites ? ["shared/conformance", "shared/webview"] : [] {
      try FileManager.default.createDirectory(at: folder.appending(path: path), withIntermediateDirectories: true)
    }
    guard let seconds else { return }
    let text = try String(contentsOf: run, encoding: .utf8)
    let changed = text.replacing(#/\nwhole=\d+\n/#, with: "\nwhole=\(seconds)\n")
    try #require(changed != text)
    try changed.write(to: run, atomically: false, encoding: .utf8)
  }

  @Test func `it passes when every step has, and says so`() async throws {
    try make()
    #expect(try await outcome() == "status 0; failed: none; skipped: none")
  }

  @Test func `it ends with the status of the step that failed, and names it`() async throws {
    try make()
    #expect(try await outcome(["FAILING=lint"]) == "status 3; failed: make lint; skipped: none")
  }

  @Test func `other people's cases may be missing, and are named`() async throws {
    try make(suites: false)
    let skipped = "skipped: make conformance; make browsers, other people's cases"
    #expect(try await outcome() == "status 0; failed: none; \(skipped)")
  }

  @Test(arguments: [([], 1), (["CI=true"], 1), (["CI="], 0)] as [([String], Int32)])
  func `a step that there was no time for has failed, unless the run vouches for nothing`(
    variables: [String], status: Int32
  ) async throws {
    try make(seconds: 0)
    let said = try await outcome(variables)
    let skipped = try #require(said.firstRange(of: "; skipped: "))
    let (failed, left) = (said[..<skipped.lowerBound], said[skipped.upperBound...])
    #expect(said.hasPrefix("status \(status);") && left.contains("make test") && left.contains("make browsers"))
    #expect(failed.contains("make browsers") == (status == 1) && !failed.contains("make bench"))
  }
}
