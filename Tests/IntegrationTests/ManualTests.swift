// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What reads manual pages.
private enum ManualReaders {
  /// Where the run vouches for the code a missing one is a failure, and no reason to look at nothing.
  static let areThere =
    ServerFixture.isVouching
    || ["mandoc", "man", "python3"].allSatisfy { ServerFixture.path(of: $0) != nil }
}

/// The manual pages of the program that was built.
@Suite(.timeLimit(.minutes(1)), .enabled(if: ManualReaders.areThere, "mandoc, man or python3 is not installed"))
struct ManualTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The pages' folder, and their names such as `man1/dnsctl.1`.
  private static func pages() async throws -> (folder: URL, names: [String]) {
    let folder = try ServerFixture.newFolder("manual")
    let made = try await ServerFixture.run(
      "python3", [root.appending(path: "Scripts/manual").path, folder.path, Program.url.path])
    try #require(made.status == 0)
    let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
    return (folder, names.filter { $0.contains("/") }.sorted())
  }

  private static func text(_ script: String) async throws -> String {
    String(decoding: try await ServerFixture.run("bash", ["-c", script]).output, as: UTF8.self)
  }

  @Test func `mandoc has nothing to say of them, and every reference leads to one`() async throws {
    let (folder, names) = try await Self.pages()
    #expect(names.count >= 20 && names.contains("man1/dnsctl-cache-list.1") && names.contains("man5/dnsctl-config.5"))
    let lines = try await Self.text("cd '\(folder.path)' && mandoc -Tlint */* 2>&1").split(separator: "\n")
    for line in lines {
      // It looks for other pages among the system's alone.
      let found = line.firstMatch(of: #/referenced manual not found: Xr (\S+) (\d)/#)
      #expect(found.map { names.contains("man\($0.2)/\($0.1).\($0.2)") } ?? false, "\(line)")
    }
  }

  @Test func `man shows them, with every verb and every option of --help`() async throws {
    let (folder, names) = try await Self.pages()
    for name in names {
      let shown = try await Self.text(
        "LC_ALL=C.UTF-8 MANWIDTH=200 MANROFFOPT=-ww man --warnings=w -l '\(folder.path)/\(name)' 2>&1 | col -bx")
      #expect(shown.hasPrefix("\(name.dropFirst(5).dropLast(2).uppercased())("), "\(name)")
      #expect(!shown.contains(#/(?m)^(man|troff|groff|<standard input>|.*\.[15]):.*(warning|error)/#), "\(name)")
      guard name.hasPrefix("man1") else { continue }
      if name == "man1/dnsctl-exec.1" { #expect(shown.contains("dnsctl exec [option ...] -- program ..."), "\(shown)") }
      // The page of all commands has what their pages have, and more than its first line.
      if name == "man1/dnsctl.1" {
        #expect(["DESCRIPTION", "EXAMPLES", "EXIT STATUS", "dnsctl fetch -fsS"].allSatisfy(shown.contains), "\(shown)")
      }
      let words = name.dropFirst(5).dropLast(2).split(separator: "-")
      let help = try await Program().run(words.dropFirst().map(String.init) + ["--help"])
      #expect(help.status == 0, "\(help)")
      Self.holdToItsForm(help.output, of: name)
      for option in help.output.matches(of: #/^  (?:-\w, )?(--[a-z0-9.-]+)/#.anchorsMatchLineEndings()) {
        #expect(shown.contains(option.1), "\(name) lacks \(option.1)")
      }
      for verb in help.output.matches(of: #/^  ([a-z]+)  +[A-Z]/#.anchorsMatchLineEndings()) {
        #expect(shown.contains("-\(verb.1)(1)"), "\(name) lacks \(verb.1)")
      }
      // Examples and statuses are there as they stand in the help.
      for example in help.output.matches(of: #/^  ?(dnsctl [a-z].*[^\\])$/#.anchorsMatchLineEndings()) {
        #expect(shown.contains(example.1), "\(name) lacks \(example.1)")
      }
      for status in help.output.matches(of: #/^ +(\d+)  ([a-z].*)$/#.anchorsMatchLineEndings()) {
        let pattern = try Regex("(?m)^ +\(status.1) +\(NSRegularExpression.escapedPattern(for: String(status.2)))")
        #expect(shown.contains(pattern), "\(name) lacks \(status.0)")
      }
    }
  }

  /// What is to be copied stands in lines of its own, which the width of 80 columns does not break, and JSON has its keys
  /// and a program its statuses.
  private static func holdToItsForm(_ help: String, of name: String) {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where line == "EXAMPLES" {
      for example in lines[(index + 1)...].prefix(while: { !$0.isEmpty }) {
        #expect(example.hasPrefix("  "), "\(name) breaks a line before: \(example)")
      }
    }
    if help.contains("The same as --format json") {
      // The keys of rewrite's stand among those of what it reads.
      #expect(lines.contains("JSON") || lines.contains { $0.hasPrefix("  {\"") }, "\(name) has no keys of its JSON")
    }
    let statuses = ["EXIT STATUS", "Exit status: see dnsctl cache.", "SUBCOMMANDS:"]
    #expect(statuses.contains { lines.contains(Substring($0)) }, "\(name) has no statuses")
  }

  @Test func `the page of the configuration file has every key of the example, each with words`() async throws {
    let (folder, _) = try await Self.pages()
    let page = try String(contentsOf: folder.appending(path: "man5/dnsctl-config.5"), encoding: .utf8)
    let example = try String(
      contentsOf: Self.root.appending(path: "Config/dnsctl.example.json5"), encoding: .utf8)
    let keys = example.matches(of: #/^ +([A-Za-z0-9]+): /#.anchorsMatchLineEndings()).map(\.1)
    #expect(keys.count > 40)
    for key in keys { #expect(page.contains(try Regex("It Cm \"(.*\\.)?\(key)\"\n[^.]")), "\(key)") }
    for variable in example.matches(of: #/^// (DIRECTDNS_\w+)/#.anchorsMatchLineEndings()) {
      #expect(page.contains(".It Ev \(variable.1)\n"))
    }
  }
}
