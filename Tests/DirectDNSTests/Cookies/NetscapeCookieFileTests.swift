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
