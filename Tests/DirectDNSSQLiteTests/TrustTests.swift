// SPDX-License-Identifier: Apache-2.0
import DirectDNSSQLite
import Foundation
import Testing

/// The store's figures on the page *Trust* are the code's.
struct TrustTests {
  /// The second column of the table's row.
  private func bound(of what: String) throws -> String {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/DirectDNS/DirectDNS.docc/Trust.md")
    let row = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").first { $0.hasPrefix("| \(what) |") }
    let columns = try #require(row, "the page has no row for \(what)").split(separator: "|")
    return columns[1].trimmingCharacters(in: .whitespaces)
  }

  @Test func `what a store may grow to is what the page says`() throws {
    #expect(try bound(of: "a store's file") == "\(SQLiteStoreConfiguration(path: "").maximumBytes) bytes")
  }
}
