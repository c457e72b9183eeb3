// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What the page *Trust* says of each dependency is what Package.swift and NOTICE say.
@Suite("The dependencies")
struct DependenciesTests {
  private static func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The columns of the page's table, by the part's name.
  private static func page() throws -> [String: [String]] {
    let page = try text("Sources/DirectDNS/DirectDNS.docc/Trust.md")
    let table = try #require(page.split(separator: "### What it is made of").last?.split(separator: "### ").first)
    let rows = table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
    return Dictionary(rows.map { ($0[0], $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The licences of NOTICE's two tables, by the part's name.
  private static func licences() throws -> [String: String] {
    let notice = try text("NOTICE")
    let linked = notice.matches(of: /(?m)^ {2}(\S+) +\d\S* +(.+?) {2,}https:/).map { (String($0.1), String($0.2)) }
    let loaded = notice.matches(of: /(?m)^ {2}(lib\S+) {2,}(\D.+?) {2,}https:/).map { (String($0.1), String($0.2)) }
    #expect(linked.count > 10 && loaded.count > 7)
    return Dictionary(linked + loaded, uniquingKeysWith: { first, _ in first })
  }

  @Test func `every package of the manifest is on the page, with its versions`() throws {
    let page = try Self.page()
    let packages = try Self.text("Package.swift").matches(of: /\.package\(url: ".*\/([^\/"]+)", from: "((\d+)[\d.]*)"/)
    #expect(packages.count > 10)
    for package in packages {
      let row = try #require(page[String(package.1)], "the page says nothing of \(package.1)")
      let major = try #require(Int(package.3))
      #expect(row[1] == "\(package.2) ..< \(major + 1).0.0", "\(package.1)")
    }
    // One that is gone stands on the page no more.
    let ranges = page.values.filter { $0[1].contains("..<") }
    #expect(ranges.count == packages.count)
  }

  @Test func `whatever NOTICE names is on the page, with its licence, and says what it is for and can reach`() throws {
    let page = try Self.page()
    for (name, licence) in try Self.licences() {
      let row = try #require(page[name], "the page says nothing of \(name)")
      #expect(row[2] == licence, "\(name)")
    }
    for row in page.values { #expect(row.count == 5, "\(row[0])") }
  }

  @Test func `every C library of the manifest is on the page`() throws {
    let page = try Self.page()
    let wanted = try Self.text("Package.swift").matches(of: /pkgConfig: "(\w+)"/).map { String($0.1) }
    #expect(wanted.count > 4)
    for library in wanted + ["hiredis", "libcrypt"] { #expect(page[library] != nil, "\(library)") }
  }
}
