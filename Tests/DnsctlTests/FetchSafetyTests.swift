// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What is no plain file of ours, and what others have planted.
@Suite(.timeLimit(.minutes(1))) struct `Places that fetch and export write to` {
  private static let cookies = "shop.example\tFALSE\t/\tFALSE\t0\ta\t1\n"

  private static func answer(_ request: RecordedRequest) -> OriginResponse {
    OriginResponse(fields: [.setCookie: "a=1"], body: "0123456789")
  }

  private func kind(_ path: String) -> mode_t {
    // Not by `stat`: which module has its members depends on what else a module imports.
    guard let found = try? FileManager.default.attributesOfItem(atPath: path) else { return 0 }
    let kind: mode_t =
      switch found[.type] as? FileAttributeType {
      case .typeRegular: S_IFREG
      case .typeSymbolicLink: S_IFLNK
      case .typeCharacterSpecial: S_IFCHR
      case .typeDirectory: S_IFDIR
      default: S_IFIFO
      }
    return kind | mode_t((found[.posixPermissions] as? NSNumber)?.uint16Value ?? 0)
  }

  /// Runs each writer at a path, with the text that it should have written.
  private func everyWriter(
    _ test: (FetchFixture, _ run: (String) async -> CommandFixture.Outcome, _ text: String) async throws -> Void
  )
    async throws
  {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try await test(fixture, { await fixture.fetch(["-s", "-o", $0, fixture.url()]) }, "0123456789")
    }
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try await test(fixture, { await fixture.fetch(["-s", "-c", $0, fixture.url()]) }, Self.cookies)
    }
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try await test(
        fixture,
        { path in
          var exporting = CommandFixture()
          exporting.store = MemoryAnswerStore()
          return await exporting.run(["cache", "export", path, "--store", "redis://cache.example"])
        }, AnswerFile.head)
    }
  }

  @Test func `FIFOs and devices are written, and stay what they are`() async throws {
    try await everyWriter { fixture, run, text in
      #expect(unsafe mkfifo(fixture.path("fifo"), 0o600) == 0)
      let reader = unsafe open(fixture.path("fifo"), O_RDWR)
      defer { close(reader) }
      #expect(await run(fixture.path("fifo")).status == 0)
      let got = try await DescriptorInput(descriptor: reader).read()
      #expect(String(decoding: got, as: UTF8.self).hasSuffix(text) && kind(fixture.path("fifo")) & S_IFMT == S_IFIFO)
      #if canImport(Glibc)
        guard unsafe mknod(fixture.path("null"), S_IFCHR | 0o666, 259) == 0 else { return }
        #expect(unsafe chmod(fixture.path("null"), 0o666) == 0)
        #expect(await run(fixture.path("null")).status == 0)
        #expect(kind(fixture.path("null")) == S_IFCHR | 0o666)
        #expect(fixture.files == ["fifo", "null"])
      #endif
    }
  }

  @Test func `links are followed, but for those of other users`() async throws {
    try await everyWriter { fixture, run, text in
      try fixture.write("old", to: "target")
      #expect(unsafe symlink("target", fixture.path("link")) == 0)
      #expect(await run(fixture.path("link")).status == 0)
      #expect(fixture.read("target")?.hasSuffix(text) == true && kind(fixture.path("link")) & S_IFMT == S_IFLNK)
      guard geteuid() == 0 else { return }
      try fixture.write("old", to: "target")
      #expect(unsafe lchown(fixture.path("link"), 12345, 12345) == 0)
      let outcome = await run(fixture.path("link"))
      #expect(outcome.status == 74 && fixture.read("target") == "old", "\(outcome)")
      #expect(fixture.files == ["link", "target"])
    }
  }

  @Test func `- is standard output for cookies, behind the bodies`() async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      let outcome = await fixture.fetch(["-c", "-", fixture.url()])
      #expect(outcome.status == 0 && outcome.errors == "")
      #expect(outcome.output.hasPrefix("0123456789# Netscape HTTP Cookie File\n"))
      #expect(outcome.output.hasSuffix(Self.cookies) && fixture.files == [])
    }
  }

  @Test func `a file of several names is written as it stands`() async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try fixture.write("old", to: "one")
      #expect(unsafe link(fixture.path("one"), fixture.path("two")) == 0)
      #expect(await fixture.fetch(["-o", fixture.path("one"), fixture.url()]).status == 0)
      #expect(fixture.read("two") == "0123456789" && fixture.files == ["one", "two"])
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can make another user's file"))
  func `a file of another user stays his`() async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try fixture.write("old", to: "file")
      #expect(unsafe chown(fixture.path("file"), 12345, 12345) == 0 && chmod(fixture.path("file"), 0o600) == 0)
      #expect(await fixture.fetch(["-o", fixture.path("file"), fixture.url()]).status == 0)
      let owner = try FileManager.default.attributesOfItem(atPath: fixture.path("file"))[.ownerAccountID] as? NSNumber
      #expect(owner == 12345 && kind(fixture.path("file")) == S_IFREG | 0o600 && fixture.read("file") == "0123456789")
    }
  }

  #if os(Linux)
    @Test func `a draft is as private as the file whose place it takes, from its first byte`() async throws {
      let gate = Gate()
      try await FetchFixture.with(handler: { _ in
        OriginResponse(length: 10) { writer in
          try await writer.write("01234")
          try await gate.pass()
          try await writer.write("56789")
        }
      }) { fixture in
        try fixture.write("old", to: "file")
        #expect(unsafe chmod(fixture.path("file"), 0o600) == 0)
        let watch = try FolderWatch(fixture.folder)
        async let outcome = fixture.fetch(["-o", fixture.path("file"), fixture.url()])
        await watch.waitForWrite(to: "file.dnsctl-part")
        #expect(fixture.read("file.dnsctl-part")?.isEmpty == false)
        #expect(kind(fixture.path("file.dnsctl-part")) == S_IFREG | 0o600)
        gate.open()
        #expect(await outcome.status == 0)
        #expect(kind(fixture.path("file")) == S_IFREG | 0o600 && fixture.read("file") == "0123456789")
      }
    }
  #endif

  @Test(arguments: [[], ["-C", "-"]])
  func `a link that was planted for the draft is neither followed nor appended to`(_ flags: [String]) async throws {
    try await FetchFixture.with(handler: Self.answer) { fixture in
      try fixture.write("precious", to: "target")
      try fixture.write("old", to: "file")
      #expect(unsafe symlink("target", fixture.path("file.dnsctl-part")) == 0)
      let outcome = await fixture.fetch(flags + ["-o", fixture.path("file"), fixture.url()])
      #expect(outcome.status == 0, "\(outcome)")
      #expect(fixture.read("target") == "precious" && fixture.read("file") == "0123456789")
      #expect(fixture.files == ["file", "target"])
    }
  }
}

/// What `-C -` compares before it puts one half behind another.
@Suite(.timeLimit(.minutes(1))) struct `A download that is resumed` {
  /// A file of a server: what it holds and how its version is called.
  struct Version: Sendable {
    var text: String
    var tag: String?
    var modified: String?
    /// Whether the server goes by `If-Range` (RFC 9110 §13.1.5).
    var heedsIfRange = true
  }

  /// The first request gets the first version, cut behind seven bytes; the others get the second one.
  private func resumed(
    _ first: Version, _ second: Version, _ test: (FetchFixture, CommandFixture.Outcome) async throws -> Void
  )
    async throws
  {
    try await FetchFixture.with(handler: { request in
      let version = request.number == 1 ? first : second
      var response = OriginResponse(fields: [.date: "Tue, 14 Nov 2023 23:00:00 GMT"], body: version.text)
      (response.fields[.eTag], response.fields[.lastModified]) = (version.tag, version.modified)
      if request.number == 1 {
        response.fields[.contentLength] = "\(response.body.count)"
        response.fields[.connection] = "close"
        response.body.removeLast(response.body.count - 7)
        return response
      }
      let condition = request.field("If-Range")
      guard let range = request.field("Range"),
        condition == nil || !version.heedsIfRange || condition == version.tag || condition == version.modified
      else { return response }
      let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
      guard start < response.body.count else {
        return OriginResponse(.rangeNotSatisfiable, fields: [.contentRange: "bytes */\(response.body.count)"])
      }
      response.status = .partialContent
      response.fields[.contentRange] = "bytes \(start)-\(response.body.count - 1)/\(response.body.count)"
      response.body.removeFirst(start)
      return response
    }) { fixture in
      let file = ["-o", fixture.path("file"), fixture.url()]
      #expect(await fixture.fetch(file).status == 2)
      #expect(fixture.read("file") == String(first.text.prefix(7)))
      try await test(fixture, await fixture.fetch(["-C", "-"] + file))
    }
  }

  private static let day = "Tue, 14 Nov 2023 22:00:00 GMT"
  private static let next = "Tue, 14 Nov 2023 22:30:00 GMT"

  @Test(
    arguments: [
      (Version(text: "0123456789", tag: "\"1\""), "\"1\""), (Version(text: "0123456789", modified: day), day),
      (Version(text: "0123456789", tag: "W/\"1\"", modified: day), day),
      (Version(text: "0123456789", tag: "\"1\"", modified: day), "\"1\""),
    ])
  func `names the version that it began with, and goes on with that`(_ version: Version, _ condition: String)
    async throws
  {
    try await resumed(version, version) { fixture, outcome in
      #expect(outcome == CommandFixture.Outcome(status: 0, output: "", errors: ""))
      #expect(fixture.read("file") == "0123456789" && fixture.files == ["file"])
      let request = try #require(fixture.origin.requests.last)
      #expect(request.field("Range") == "bytes=7-" && request.field("If-Range") == condition)
      // What is whole is no beginning any more.
      #expect(try WritableFile.toContinue(fixture.path("file"))?.note == nil)
    }
  }

  @Test(
    arguments: [
      // The server says that it is another one.
      (Version(text: "0123456789", tag: "\"1\""), Version(text: "abcdefghij", tag: "\"2\""), 2),
      (Version(text: "0123456789", modified: day), Version(text: "abcdefghij", modified: next), 2),
      // The server does not heed the condition, and its part does not fit.
      (Version(text: "0123456789", tag: "\"1\""), Version(text: "abcdefghij", tag: "\"2\"", heedsIfRange: false), 3),
      (Version(text: "0123456789", modified: day), Version(text: "abcdefghij", modified: next, heedsIfRange: false), 3),
      (Version(text: "0123456789"), Version(text: "abcdefghijk"), 3),
      (Version(text: "0123456789", tag: "\"1\""), Version(text: "abcde", tag: "\"1\""), 3),
    ])
  func `starts over where there is another version by now`(
    _ first: Version, _ second: Version, _ requests: Int
  ) async throws {
    try await resumed(first, second) { fixture, outcome in
      #expect(outcome.status == 0, "\(outcome)")
      #expect(fixture.read("file") == second.text && fixture.files == ["file"])
      #expect(fixture.origin.requests.count == requests)
      if requests == 3 {
        #expect(fixture.origin.requests.last?.field("Range") == nil)
        #expect(outcome.errors.hasPrefix("dnsctl: \(fixture.path("file")) is fetched from its beginning: it "))
      }
    }
  }

  @Test func `is no failure for -f where it was whole already`() async throws {
    try await FetchFixture.with(handler: { request in
      request.field("Range") == nil
        ? OriginResponse(.notFound) : OriginResponse(.rangeNotSatisfiable, fields: [.contentRange: "bytes */5"])
    }) { fixture in
      try fixture.write("01234", to: "file")
      #expect(await fixture.fetch(["-f", "-C", "-", "-o", fixture.path("file"), fixture.url()]).status == 0)
      #expect(await fixture.fetch(["-f", "-C", "-", "-o", fixture.path("other"), fixture.url()]).status == 22)
      #expect(fixture.read("file") == "01234" && fixture.files == ["file"])
    }
  }

  @Test func `says so where nothing is known of the version`() async throws {
    try await resumed(Version(text: "0123456789"), Version(text: "0123456789")) { fixture, outcome in
      #expect(outcome.status == 0 && fixture.read("file") == "0123456789")
      #expect(
        outcome.errors
          == "dnsctl: \(fixture.path("file")) is continued without comparing: nothing is known of the version that it began with.\n"
      )
    }
  }
}
