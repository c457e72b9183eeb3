// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DnsctlCommands

@Suite struct ExportTargetTests {
  private let folder: TestFolder
  private let path: String

  init() throws {
    folder = try TestFolder()
    path = folder.path + "/export.jsonl"
  }

  private var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) } }

  @Test func `a new export lies beside its place until it is whole`() throws {
    let target = try ExportTarget(path: path)
    try target.write("all of it\n")
    #expect(try files == ["export.jsonl.dnsctl-part"])
    try target.finish()
    #expect(try files == ["export.jsonl"])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "all of it\n")
  }

  @Test func `a name of any length that a folder has is enough for an export`() throws {
    let name = String(repeating: "e", count: 255)
    for text in ["one\n", "other\n"] {
      let target = try ExportTarget(path: folder.path + "/" + name)
      try target.write(text)
      try target.finish()
      #expect(try files == [name])
      #expect(try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8) == text)
    }
  }

  @Test(arguments: [nil, "the one before\n"])
  func `an export that ends in the middle leaves what was there`(before: String?) throws {
    try before?.write(toFile: path, atomically: false, encoding: .utf8)
    do {
      let target = try ExportTarget(path: path)
      try target.write("half of")
    }
    #expect(try files == (before == nil ? [] : ["export.jsonl"]))
    if let before { #expect(try String(contentsOfFile: path, encoding: .utf8) == before) }
  }

  @Test func `an export that cannot take its place leaves nothing beside it`() throws {
    let target = try ExportTarget(path: path)
    try target.write("all of it\n")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let error = #expect(throws: StreamError.self) { try target.finish() }
    #expect(error?.reason == "putting it in place: Is a directory")
    #expect(try files == ["export.jsonl"])
  }

  @Test(arguments: ["link", "second name"])
  func `an export over what cannot be replaced leaves it as it is until the new one is whole`(kind: String) throws {
    let other = folder.path + "/other.jsonl"
    try "the one before\n".write(toFile: other, atomically: false, encoding: .utf8)
    if kind == "link" {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "other.jsonl")
    } else {
      try FileManager.default.linkItem(atPath: other, toPath: path)
    }
    do {
      let target = try ExportTarget(path: path)
      try target.write("half of")
      #expect(try String(contentsOfFile: other, encoding: .utf8) == "the one before\n")
    }
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "the one before\n")
    let target = try ExportTarget(path: path)
    for text in ["all ", "of it\n"] { try target.write(text) }
    try target.finish()
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "all of it\n")
    #expect(try files.sorted() == ["export.jsonl", "other.jsonl"])
  }

  @Test func `an export by a link that leads to nothing makes the file that it names`() throws {
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "other.jsonl")
    let target = try ExportTarget(path: path)
    try target.write("all of it\n")
    try target.finish()
    #expect(try String(contentsOfFile: folder.path + "/other.jsonl", encoding: .utf8) == "all of it\n")
  }
}
