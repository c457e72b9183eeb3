// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

@Suite struct `A file's stamp` {
  private let folder: FileFolder

  init() throws { folder = try FileFolder() }

  @Test func `is the same while nothing happens, and nothing where there is no file`() throws {
    try folder.write("{}", to: "a")
    #expect(FileStamp(of: folder / "a") == FileStamp(of: folder / "a"))
    #expect(FileStamp(of: folder / "b") == nil)
  }

  @Test func `is another after a write in place, a file moved into place, and a swapped link`() throws {
    try folder.write("{}", to: "a")
    var last = FileStamp(of: folder / "a")
    func expectAnother() {
      let now = FileStamp(of: folder / "a")
      #expect(now != nil && now != last)
      last = now
    }
    try folder.write("{  }", to: "a")
    expectAnother()
    // An editor's way: the same length, and perhaps the same moment.
    try folder.write("{  }", to: "a.new")
    try move("a.new", onto: "a")
    expectAnother()
    // A ConfigMap's way: a link to a link to a folder.
    try FileManager.default.createDirectory(atPath: folder / "1", withIntermediateDirectories: false)
    try FileManager.default.createDirectory(atPath: folder / "2", withIntermediateDirectories: false)
    try folder.write("{  }", to: "1/a")
    try folder.write("{  }", to: "2/a")
    try link("..data", to: "1")
    try link("a", to: "..data/a")
    expectAnother()
    try link("..data", to: "2")
    expectAnother()
  }

  /// Moves a file in the place of another, in one step.
  private func move(_ name: String, onto other: String) throws {
    guard unsafe rename(folder / name, folder / other) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Makes a link, in one step where there is one of that name.
  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder / "link.new", withDestinationPath: target)
    try move("link.new", onto: name)
  }
}
