// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder that goes with its test.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "directdns-sqlite-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String = "answers.sqlite") -> String { url.appending(path: name).path }

  /// What is in it, without SQLite's journal, log and index.
  var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: url.path).filter {
        !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") && !$0.hasSuffix("-journal")
      }.sorted()
    }
  }
}
