// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSSQLite
@testable import DirectDNSTesting

/// Visits of files that others change, and of rows that are no answers.
extension SQLiteAnswerStoreTests {
  @Test(arguments: [
    ("removed", "was replaced while it was read"), ("replaced", "was replaced while it was read"),
    ("set aside", "was replaced while it was read"), ("damaged", "is damaged, and reading leaves it as it is"),
  ])
  func `a visit fails when the file is no longer what its first page was of`(_ fate: String, _ reason: String)
    async throws
  {
    let store = Self.store(folder.path()) { _ in }
    try await store.write((0..<600).map(answer))
    try await Self.store(folder.path("other")).write([answer(1)])
    let (_, failure) = try await store.visitPages {
      switch fate {
      case "damaged": try await damage(store)
      case "set aside":
        try await damage(store)
        try await store.write([answer(1)])
      case "removed": try FileManager.default.removeItem(atPath: folder.path())
      default: #expect(unsafe rename(folder.path("other"), folder.path()) == 0)
      }
    }
    #expect(failure?.message.contains(reason) == true, "\(failure?.message ?? "none")")
  }

  @Test(arguments: [
    "'HOST-' || n || '.Example.NET'", "'host-' || n || '.example.net.'", "'host ' || n",
    "CAST(x'ff' || CAST(n AS BLOB) AS TEXT)", "CAST('host-' || n || '.example.net' AS BLOB)", "'a' || char(0) || n",
  ])
  func `rows that no question finds are passed over, and a visit ends`(_ host: String) async throws {
    try await store.write([answer(1), answer(2)])
    let line = try answer(3).text
    try raw().execute(
      """
      WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1599)
      INSERT INTO answers (host, family, gone, line) SELECT \(host), 4, 9999999999999, '\(line)' FROM numbers
      """)
    let (seen, pages) = (Watched<[AddressQuestion]>([]), Watched(0))
    try await store.visit { page in
      seen.change { $0 += page.map(\.question) }
      pages.change { $0 += 1 }
      return pages.value < 20
    }
    #expect(try seen.value.sorted { $0.host < $1.host } == [question(1), question(2)])
  }

  @Test(arguments: ["5", "'x'", "6.5", "x'06'"])
  func `families that there are not are passed over, and a visit ends`(_ family: String) async throws {
    try await store.write([answer(1)])
    let line = try answer(3).text
    try raw().execute(
      """
      WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1255)
      INSERT INTO answers (host, family, gone, line)
        SELECT 'a' || n || '.example.net', \(family), 9999999999999, '\(line)' FROM numbers
      """)
    let seen = try await store.allAnswers()
    #expect(seen.map(\.question) == [try question(1)])
  }
}
