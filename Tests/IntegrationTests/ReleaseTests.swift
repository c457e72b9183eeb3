// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The scripts that make a release, in a house of the test's own.
@Suite(.timeLimit(.minutes(1)))
struct ReleaseTests {
  private let folder: URL

  init() throws {
    folder = try ServerFixture.newFolder("release")
    for path in ["Scripts", "Sources/DnsctlCommands", "bin"] {
      try FileManager.default.createDirectory(at: folder.appending(path: path), withIntermediateDirectories: true)
    }
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    for name in ["version", "api", "spdx", "sbom"] {
      try FileManager.default.copyItem(
        at: root.appending(path: "Scripts/\(name)"), to: folder.appending(path: "Scripts/\(name)"))
    }
  }

  private func write(_ path: String, _ text: String, mode: Int = 0o644) throws {
    let place = folder.appending(path: path)
    try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: place, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place.path)
  }

  private func write(version: String) throws {
    try write(
      "Sources/DnsctlCommands/DnsctlVersion.swift", "enum DnsctlVersion {\n  static let text = \"\(version)\"\n}\n")
  }

  /// Runs a line in the house; `bin` stands first in PATH.
  private func run(_ line: String) async throws -> (status: Int32, said: String) {
    let script = """
      cd '\(folder.path)'
      export PATH="$PWD/bin:$PATH" GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
      { \(line); } 2>&1
      """
    let run = try await ServerFixture.run("bash", ["-c", script])
    return (run.status, String(decoding: run.output, as: UTF8.self))
  }

  @Test func `the version is read from its one place, and is three numbers`() async throws {
    try write(version: "0.2.0")
    #expect(try await run("Scripts/version") == (0, "0.2.0\n"))
    try write(version: "next")
    #expect(try await run("Scripts/version").status == 1)
  }

  @Test(arguments: [
    // version, tags, whether the API is broken, the status, a part of what is said
    ("0.2.0", "", true, 0, "no release is tagged yet"),
    ("0.2.0", "0.2.0-beta1 v0.1 nightly", true, 0, "no release is tagged yet"),
    ("0.2.1", "0.1.9 0.2.0", false, 0, "nothing is broken since 0.2.0"),
    ("0.2.1", "0.1.9 0.2.0", true, 1, "0.2.1 breaks what 0.2.0 had"),
    ("0.3.0", "0.9.0 0.10.0 0.2.0", true, 0, "0.3.0 may break what 0.10.0 had"),
    ("1.5.0", "1.4.2", true, 1, "1.5.0 breaks what 1.4.2 had"),
    ("2.0.0", "1.4.2", true, 0, "2.0.0 may break what 1.4.2 had"),
  ])
  func `the API may break where the version says so`(
    version: String, tags: String, isBroken: Bool, status: Int32, words: String
  ) async throws {
    try write(version: version)
    try write("Package.swift", "    .library(name: \"DirectDNS\", targets: [\"DirectDNS\"]),\n")
    // What it was asked for stands in a file.
    let outcomeOfTool = isBroken ? "echo '1 breaking change detected in DirectDNS:'; exit 1" : "exit 0"
    try write("bin/swift", "#!/bin/sh\necho \"$@\" >asked\n\(outcomeOfTool)\n", mode: 0o755)
    _ = try await run("git init -q . && git add . && git commit -qm a && for t in \(tags); do git tag $t; done")
    let outcome = try await run("Scripts/api")
    #expect(outcome.status == status)
    #expect(outcome.said.contains(words))
    let asked = try? String(contentsOf: folder.appending(path: "asked"), encoding: .utf8)
    #expect(asked?.hasSuffix("--products DirectDNS\n") ?? words.hasPrefix("no release"))
  }

  @Test func `a comparison of the API that does not come to its end fails, whatever the version allows for`()
    async throws
  {
    try write(version: "0.3.0")
    try write("Package.swift", "    .library(name: \"DirectDNS\", targets: [\"DirectDNS\"]),\n")
    try write("bin/swift", "#!/bin/sh\necho 'error: it does not build'\nexit 1\n", mode: 0o755)
    _ = try await run("git init -q . && git add . && git commit -qm a && git tag 0.2.0")
    let outcome = try await run("Scripts/api")
    #expect(outcome.status == 1 && outcome.said.contains("the comparison with 0.2.0 did not come to its end"))
  }

  @Test func `each source file gets the licence's line once, where its first line lets it`() async throws {
    let line = "SPDX-License-Identifier: Apache-2.0"
    try write("Package.swift", "// swift-tools-version: 6.2\nimport PackageDescription\n")
    try write("Sources/A.swift", "import B\n")
    try write("Sources/shim.h", "#pragma once\n")
    try write("Scripts/run", "#!/usr/bin/env bash\necho\n", mode: 0o755)
    try write("Config/a.service", "[Unit]\n")
    try write("README.md", "# Words\n")
    _ = try await run("rm -r Scripts/version Scripts/api Scripts/sbom && git init -q . && git add .")
    #expect(try await run("Scripts/spdx").status == 1)
    for _ in 0..<2 { #expect(try await run("Scripts/spdx --add").status == 0) }
    #expect(try await run("Scripts/spdx") == (0, ""))
    #expect(
      try await run("cat Package.swift").said == "// swift-tools-version: 6.2\n// \(line)\nimport PackageDescription\n")
    #expect(try await run("cat Sources/A.swift").said == "// \(line)\nimport B\n")
    #expect(try await run("cat Sources/shim.h").said == "// \(line)\n#pragma once\n")
    #expect(try await run("cat Config/a.service").said == "# \(line)\n[Unit]\n")
    #expect(
      try await run("cat Scripts/run; stat -c %a Scripts/run").said == "#!/usr/bin/env bash\n# \(line)\necho\n755\n")
    #expect(try await run("cat README.md").said == "# Words\n")
  }

  @Test func `a dependency that NOTICE does not name is a fault, and so is one that is gone`() async throws {
    let rows =
      "  Name  Version  Licence  Home\n  swift-log  1.0  Apache-2.0  https://a.example\n\n  Library  Licence  Home\n\n"
    let end =
      "linked by neither program:\nswift-nio-ssl,\nswift-asn1.\n\n"
      + "linked by neither program, of a trait:\nasync-http-client,\nswift-certificates.\n"
    func pins(_ names: String...) throws {
      let pins = names.map { #"{"identity": "\#($0)", "state": {"version": "1.0"}}"# }.joined(separator: ",")
      try write("Package.resolved", #"{"pins": [\#(pins)]}"#)
    }
    try write("NOTICE", rows + end)
    try pins("swift-log", "swift-nio-ssl", "swift-asn1")
    #expect(try await run("Scripts/sbom --check") == (0, ""))
    // What only a trait asks for may be there or not.
    try pins("swift-log", "swift-nio-ssl", "swift-asn1", "async-http-client")
    #expect(try await run("Scripts/sbom --check") == (0, ""))
    try pins("swift-log", "swift-nio-ssl", "swift-asn1", "left-pad")
    #expect(try await run("Scripts/sbom --check") == (1, "sbom: NOTICE names left-pad nowhere\n"))
    try pins("swift-nio-ssl", "swift-asn1")
    #expect(
      try await run("Scripts/sbom --check") == (1, "sbom: NOTICE names swift-log, which Package.resolved has not\n"))
  }
}
