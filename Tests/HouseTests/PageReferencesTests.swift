// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What the pages point at is there.
@Suite("The pages")
struct PageReferencesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// README, CONTRIBUTING and SECURITY, and the articles.
  private static let pages: [String] = {
    let articles = "Sources/DirectDNS/DirectDNS.docc"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: articles).path)) ?? []
    return ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
      + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(articles)/\($0)" }
  }()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// What a page says to make, in a line to type or as code in a sentence, be there variables behind it or not.
  private func makeTargets(of page: String) throws -> [Substring] {
    try text(page).matches(of: /(?m)(?:`|^\$ )make ([a-z]+(?:-[a-z]+)*)/).map(\.1)
  }

  private func tests(of page: String) throws -> [Substring] {
    try text(page).matches(of: /`([A-Z]\w*Tests)`/).map(\.1)
  }

  @Test(arguments: pages)
  func `every make target that a page names is in the Makefile`(_ page: String) throws {
    let targets = Set(try text("Makefile").matches(of: /(?m)^([a-z-]+):/).map(\.1))
    for name in try makeTargets(of: page) { #expect(targets.contains(name), "\(page) names make \(name)") }
  }

  @Test(arguments: pages)
  func `every test that a page names is there`(_ page: String) throws {
    let files = ["Tests", "Fuzzing", "Examples"].flatMap {
      FileManager.default.enumerator(atPath: Self.root.appending(path: $0).path)?.allObjects ?? []
    }
    // Files, and the folders of test targets.
    let names = Set(
      files.compactMap { ($0 as? String)?.split(separator: "/").last }
        .map { $0.hasSuffix(".swift") ? $0.dropLast(".swift".count) : $0 })
    for name in try tests(of: page) { #expect(names.contains(name), "\(page) names \(name)") }
  }

  @Test func `the pages are found, and what they name`() throws {
    #expect(Self.pages.count > 20)
    let targets = try Self.pages.flatMap { try makeTargets(of: $0) }
    let tests = try Self.pages.flatMap { try self.tests(of: $0) }
    #expect(targets.count > 50 && tests.count > 20)
  }

  @Test func `every bound on the page Trust is compared with the code by a test`() throws {
    let page = try text("Sources/DirectDNS/DirectDNS.docc/Trust.md")
    let table = page.split(separator: "| for | at most | set by |\n").last?.split(separator: "\n\n").first ?? ""
    let rows = table.split(separator: "\n").dropFirst().compactMap { row in
      row.split(separator: "|").first.map { $0.trimmingCharacters(in: .whitespaces) }
    }
    #expect(rows.count > 20)
    let tests = try sources("Tests")
    // The first is compared by a test below.
    #expect(rows.filter { !tests.contains("bound(of: \"\($0)\")") } == ["a name in the cache"])
  }

  @Test func `the page Operating says of every key of the configuration file when a change of it holds`() throws {
    let page = try text("Sources/DirectDNS/DirectDNS.docc/Operating.md")
    let table = try #require(page.split(separator: "| of the file | holds |").last?.split(separator: "\n\n").first)
    let keys = try text("Config/dnsctl.example.json5").matches(of: /(?m)^ {2}([A-Za-z]+):/).map { String($0.1) }
    #expect(keys.count > 15)
    #expect(keys.filter { !table.contains("`\($0)`") } == [])
  }

  /// Where ProtectHome covers the user's home, a configuration file that is looked for there cannot be read.
  @Test(arguments: ["directdns-keep-warm@.service", "directdns-proxy.service", "directdns-warmup@.service"])
  func `a unit from which no home can be seen names another folder of the configuration`(_ unit: String) throws {
    let lines = try text("Config/systemd/\(unit)").split(separator: "\n")
    #expect(lines.contains("ProtectHome=yes"))
    #expect(lines.contains("Environment=XDG_CONFIG_HOME=/etc"))
  }

  /// The library's sources, one after the other.
  private func sources(_ folder: String) throws -> String {
    try (FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path)?.allObjects ?? [])
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.map { try text("\(folder)/\($0)") }
      .joined(separator: "\n")
  }

  @Test func `every public type and every log label stands on the documentation's first page`() throws {
    let page = try text("Sources/DirectDNS/DirectDNS.docc/DirectDNS.md")
    let types = try sources("Sources/DirectDNS")
      .matches(of: /(?m)^public (?:struct|final class|class|enum|protocol|actor) (\w+)/).map(\.1)
    #expect(types.count > 80)
    #expect(Set(types).filter { !page.contains("``\($0)``") } == [])
    let labels = try sources("Sources").matches(of: /Logger\(label: "(directdns\.\w+)"/).map(\.1)
    #expect(labels.count > 8)
    #expect(Set(labels).filter { !page.contains("`\($0)`") } == [])
  }

  @Test func `what a cached lookup and a name cost is the same everywhere, and what the benchmarks measured`() throws {
    let benchmarks = try text("Benchmarks/README.md")
    let lookup = try #require(benchmarks.firstMatch(of: /`cached-hostname-1` \|[^|]*\| (\d+) ns/)).1
    #expect(try text("README.md").contains("a cached lookup: \(lookup) ns"))
    #expect((50..<150).contains(Int(lookup) ?? 0), "elsewhere it is some 0.1 µs")
    let name = try #require(benchmarks.firstMatch(of: /A cached name takes about (\d+) bytes/)).1
    for page in ["HowAnswersAge.md", "Trust.md"].map({ "Sources/DirectDNS/DirectDNS.docc/\($0)" })
      + ["Sources/DirectDNS/Lookups/ResolverConfiguration.swift"]
    {
      #expect(try text(page).contains("about \(name) bytes"), "\(page)")
    }
  }
}
