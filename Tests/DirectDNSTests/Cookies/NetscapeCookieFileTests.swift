// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

struct NetscapeCookieFileTests {
  private let folder: URL
  private let file: NetscapeCookieFile

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "directdns-cookies-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    file = NetscapeCookieFile(path: folder.appending(path: "jar.txt").path)
  }

  @Test func `a jar that is saved and loaded is the same`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let clock = ManualClock()
    let jar = CookieJar(clock: clock)
    jar.store(
      setCookie: ["a=1", "b=2; domain=a.example; secure", "c=3; max-age=60; httponly", "d"],
      for: Sample.url("https://www.a.example/"))
    #expect(try jar.save(to: file).map(\.value) == ["d"])
    let other = CookieJar(clock: clock)
    #expect(try other.load(file) == [])
    #expect(other.cookies == jar.cookies.filter { !$0.name.isEmpty })
    let third = CookieJar(clock: clock)
    #expect(third.load(text: Array(NetscapeCookieFile.text(jar.cookies).text.utf8)) == [])
    #expect(third.cookies == other.cookies)
    clock.advance(by: .seconds(60))
    let later = CookieJar(clock: clock)
    #expect(try later.load(file) == [])
    #expect(later.cookies.map(\.name) == ["a", "b"])
  }

  @Test func `what is in the jar already is replaced, and lines that help nobody are said`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try "a.example\tFALSE\t/\tFALSE\t0\ta\tnew\nnonsense\n".write(toFile: file.path, atomically: false, encoding: .utf8)
    let jar = CookieJar(clock: ManualClock())
    jar.store(setCookie: ["a=old", "b=2"], for: Sample.url("https://a.example/"))
    #expect(try jar.load(file).map(\.line) == [2])
    #expect(jar.cookieHeader(for: Sample.url("https://a.example/")) == "a=new; b=2")
  }

  @Test func `a file that is not there, or cannot be, is an error with its path`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let unread = #expect(throws: DirectDNSError.self) { try file.load(now: Sample.now) }
    #expect(unread?.code == .fileUnusable)
    #expect(unread?.message.contains(file.path) == true)
    let nowhere = NetscapeCookieFile(path: folder.appending(path: "no/jar.txt").path)
    let unwritten = #expect(throws: DirectDNSError.self) { try nowhere.save([]) }
    #expect(unwritten?.code == .fileUnusable)
    #expect(unwritten?.message.contains("No such file") == true)
  }
}

struct PrivateFileTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "directdns-private-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `a file is its owner's alone, also in place of one that was not, and nothing else is left behind`() throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("old".utf8).write(to: folder.appending(path: "file"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path("file"))
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
    try PrivateFile.write(bytes, to: path("file"))
    #expect(try Array(Data(contentsOf: folder.appending(path: "file"))) == bytes)
    #expect(try mode(path("file")) == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
  }

  @Test func `where a file cannot be put in place, what was there stays and the draft goes`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(atPath: path("taken"), withIntermediateDirectories: true)
    try Data("old".utf8).write(to: folder.appending(path: "taken/file"))
    let error = #expect(throws: FileFailure.self) { try PrivateFile.write([1], to: path("taken")) }
    #expect(error?.reason == "Is a directory")
    #expect(try String(contentsOfFile: path("taken/file"), encoding: .utf8) == "old")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["taken"])
  }

  @Test func `what cannot be replaced is written through, and other names of a file keep what they have`() throws {
    let folder = try FileFolder()
    let reader = folder.makeFIFO("fifo")
    try PrivateFile.write([0x61], to: folder / "fifo")
    #expect(FileFolder.drain(reader) == "a")
    try folder.write("old", to: "target")
    try FileManager.default.createSymbolicLink(atPath: folder / "link", withDestinationPath: "target")
    try PrivateFile.write([0x62], to: folder / "link")
    #expect(try folder.read("target") == "b" && mode(folder / "target") == 0o600)
    try FileManager.default.linkItem(atPath: folder / "target", toPath: folder / "second")
    try PrivateFile.write([0x63], to: folder / "target")
    #expect(try folder.read("target") == "c" && folder.read("second") == "b")
    #expect(try folder.names == ["fifo", "link", "second", "target"])
  }

  @Test func `an empty file is a file`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try PrivateFile.write([], to: path("empty"))
    // Not read: Foundation forgets 4 KB for each empty file that it reads.
    let size = try FileManager.default.attributesOfItem(atPath: path("empty"))[.size] as? NSNumber
    #expect(size == 0)
  }
}
