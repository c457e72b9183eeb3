// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder of a test's own, in the ways in which configuration files change.
final class TestFolder: Sendable {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.appending(path: "directdns-\(UUID().uuidString)").path
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  static func / (folder: TestFolder, name: String) -> String { "\(folder.path)/\(name)" }

  /// Writes into the file that is there.
  func write(_ text: String, to name: String) throws {
    let file = self / name
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: file))
  }

  /// Moves a file in the place of another, in one step.
  func move(_ name: String, onto other: String) throws {
    guard unsafe rename(self / name, self / other) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Makes a link, in one step where there is one of that name.
  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: self / "link.new", withDestinationPath: target)
    try move("link.new", onto: name)
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self / name) }
}
