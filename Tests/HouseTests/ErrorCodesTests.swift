// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The codes of the library's one error: each has a stable spelling, and is provoked by a test.
@Suite("The error's codes")
struct ErrorCodesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Names and spellings, out of the source.
  private static func codes() throws -> [(name: String, spelling: String)] {
    try text("Sources/DirectDNS/Model/DirectDNSError.swift")
      .matches(of: /public static let (\w+) = Code\("(\w+)"\)/).map { (String($0.1), String($0.2)) }
  }

  /// Tests that make errors up to see what becomes of each code: they prove of none that it ever comes.
  private static let mapping: Set = [
    "DirectDNSErrorTests.swift", "DirectDNSErrorLocalizedErrorTests.swift", "HTTPTransportErrorTests.swift",
    "ProxyRefusalTests.swift", "URLErrorTests.swift",
  ]

  @Test func `a code is spelled as it is called, and the table of spellings has all of them`() throws {
    let codes = try Self.codes()
    #expect(codes.count > 20)
    #expect(codes.filter { $0.name != $0.spelling }.map(\.name) == [])
    let table = try Self.text("Tests/DirectDNSTests/Model/DirectDNSErrorTests.swift")
    #expect(codes.filter { !table.contains("(.\($0.name), \"\($0.spelling)\")") }.map(\.name) == [])
  }

  @Test func `every code is expected by a test that provokes it`() throws {
    var expected: Set<String> = []
    for folder in ["Tests", "Examples"] {
      let paths = FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path)?.allObjects ?? []
      for case let path as String in paths where path.hasSuffix(".swift") && !path.contains(".build") {
        // A suite goes over several files: `BrokenOriginTests+Unreadable.swift`.
        guard let name = path.split(separator: "/").last, name.contains("Tests"),
          !Self.mapping.contains(String(name))
        else { continue }
        // `error?.code == .refused`: other types have cases of the same names.
        let found = SwiftText.code(of: try Self.text("\(folder)/\(path)"))
          .matches(of: /[cC]ode\b[^=\n]*==\s*(?:DirectDNSError\.Code)?\.(\w+)/)
        expected.formUnion(found.map { String($0.1) })
      }
    }
    #expect(try Self.codes().map(\.name).filter { !expected.contains($0) } == [])
  }
}
