// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1))) struct SecretArgumentsTests {
  /// The words as the system shows them.
  private func shown(_ words: [String]) -> [String] {
    let bytes = words.map { Array($0.utf8) }
    return zip(bytes, SecretArguments.ranges(in: bytes)).map { word, range in
      String(decoding: word.enumerated().map { range.contains($0) ? UInt8(ascii: "*") : $1 }, as: UTF8.self)
    }
  }

  @Test(arguments: [
    ("fetch -u me:s3cret https://a.example/", "fetch -u me:****** https://a.example/"),
    ("fetch -ume:s3:cret a.example", "fetch -ume:******* a.example"), ("fetch -sume:s3cret a", "fetch -sume:****** a"),
    ("fetch --user me:s3cret", "fetch --user me:******"), ("fetch --user=me:s3cret", "fetch --user=me:******"),
    ("fetch -u me a", "fetch -u me a"), ("fetch -u @file:x a", "fetch -u @file:x a"),
    ("fetch -E a\\:b.pem:s3cret a", "fetch -E a\\:b.pem:****** a"), ("fetch -E a\\\\:s3cret", "fetch -E a\\\\:******"),
    ("fetch --cert a.pem a", "fetch --cert a.pem a"), ("fetch --pass s3cret", "fetch --pass ******"),
    ("fetch --pass @f", "fetch --pass @f"), ("fetch -U me:s3cret -x p", "fetch -U me:****** -x p"),
    ("fetch -x me:s3cret@proxy:3128 a", "fetch -x me:******@proxy:3128 a"),
    ("fetch --proxy=http://me:s3@cret@proxy a", "fetch --proxy=http://me:*******@proxy a"),
    ("fetch -x http://t0ken@proxy a", "fetch -x http://*****@proxy a"), ("fetch -x proxy:3128", "fetch -x proxy:3128"),
    ("resolve --store redis://:s3cret@host/0 a", "resolve --store redis://:******@host/0 a"),
    ("cache stats --store=redis://me:s3cret@host", "cache stats --store=redis://me:******@host"),
    ("resolve --store ./a@b:c a", "resolve --store ./a@b:c a"), ("resolve --store @file a", "resolve --store @file a"),
    ("fetch -H Authorization:t0ken a", "fetch -H Authorization:***** a"), ("fetch -HX-Key:t a", "fetch -HX-Key:* a"),
    ("fetch -H X-Empty; a", "fetch -H X-Empty; a"), ("fetch -H @fields a", "fetch -H @fields a"),
    ("fetch -b a=s3cret a", "fetch -b ******** a"), ("fetch -b jar.txt a", "fetch -b jar.txt a"),
    ("fetch -d s3cret -d @file a", "fetch -d ****** -d @file a"), ("fetch --json {} a", "fetch --json ** a"),
    (
      "resolve --provider json+https://d.example/?key=s3cret a",
      "resolve --provider json+https://d.example/?********** a"
    ),
    (
      "resolve --json @json+https://me:pw@d.example/?key=s3cret a",
      "resolve --json @json+https://me:************************ a"
    ),
    ("resolve @1.1.1.1 --json a.example", "resolve @1.1.1.1 --json a.example"),
    ("fetch https://me:s3cret@a.example/x", "fetch https://me:******@a.example/x"),
    ("rewrite -- https://me:s3cret@a.example/", "rewrite -- https://me:******@a.example/"),
    ("fetch -- -u me:s3cret", "fetch -- -u me:s3cret"), ("fetch -o -u me:s3cret", "fetch -o -u me:s3cret"),
    ("resolve a.example me@b.example", "resolve a.example **@b.example"), ("fetch -u", "fetch -u"), ("fetch", "fetch"),
    ("fetch https://a.example/me:x@y", "fetch https://a.example/me:x@y"), ("", ""), ("-", "-"), ("--store", "--store"),
  ])
  func `what is secret is written over, and nothing else`(_ line: String, _ expected: String) {
    #expect(shown(line.split(separator: " ").map(String.init)).joined(separator: " ") == expected)
  }

  @Test func `bytes that are no UTF-8 change nothing`() {
    let word = Array("me:".utf8) + [0xff, 0x80, 0x3a]
    #expect(SecretArguments.ranges(in: [Array("fetch".utf8), Array("-u".utf8), word])[2] == 3..<6)
  }

  #if os(Linux)
    /// The arguments of a running dnsctl as the system shows them, once its request has arrived.
    private func shownBySystem(_ arguments: [String], _ origin: FakeOrigin, _ arrived: AsyncStream<Void>) async throws
      -> String
    {
      let process = Process()
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: "dnsctl")
      process.arguments = arguments
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      defer {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
      for await _ in arrived { break }
      let bytes = try Data(contentsOf: URL(filePath: "/proc/\(process.processIdentifier)/cmdline"))
      return String(decoding: bytes.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
    }

    @Test(arguments: [
      ["-u", "me:hunter2", "-H", "Authorization: Bearer hunter2", "-b", "sid=hunter2", "-d", "p=hunter2"],
      ["-ume:hunter2", "--store", "redis://:hunter2@127.0.0.1:1/0"],
      ["--header=X-Key: hunter2", "--store=redis://me:hunter2@127.0.0.1:1"], ["-x", "PROXY"],
    ])
    func `a running process shows none of its secrets`(_ options: [String]) async throws {
      let gate = Gate()
      let (arrived, feed) = AsyncStream.makeStream(of: Void.self)
      let origin = try await FakeOrigin.start { _ in
        feed.yield()
        try await gate.pass()
        return OriginResponse()
      }
      let proxy = "http://me:hunter2@127.0.0.1:\(origin.port)"
      let shown = try await shownBySystem(
        ["fetch", "--no-system", "--allow", "127.0.0.0/8"] + options.map { $0 == "PROXY" ? proxy : $0 }
          + ["http://127.0.0.1:\(origin.port)/"], origin, arrived)
      #expect(shown.contains("fetch --no-system --allow 127.0.0.0/8") && shown.contains("*******"), "\(shown)")
      #expect(!shown.contains("hunter2"), "\(shown)")
      await origin.stop()
    }
  #endif

  // MARK: Files

  private func fetched(_ arguments: [String], files: [String: String]) async throws -> CommandFixture.Outcome {
    var outcome = CommandFixture.Outcome(status: -1, output: "", errors: "")
    try await FetchFixture.with { fixture in
      var inner = CommandFixture()
      inner.files = files
      outcome = await fixture.fetch(arguments + [fixture.url()], in: inner)
    }
    return outcome
  }

  @Test func `a name and a password may stand in a file`() async throws {
    let outcome = try await fetched(["-u", "@/login"], files: ["/login": "me:s3:cret\r\nmore\n"])
    #expect(outcome.output.contains("Authorization: Basic bWU6czM6Y3JldA=="), "\(outcome)")
    let missing = try await fetched(["-u", "@/none"], files: [:])
    #expect(missing.status == 74 && missing.errors.hasPrefix("dnsctl: -u: there is no file /none."))
    let empty = try await fetched(["-u", "@/empty"], files: ["/empty": "\n"])
    #expect(empty.status == 74 && empty.errors.contains("the first line of /empty is empty"))
  }

  @Test func `a proxy's name and password may stand in a file, whatever is in them`() throws {
    let flags = try ConnectionFlags.parse(["-x", "proxy.example:3128", "-U", "@/login"])
    let choice = try flags.proxyChoice { path in path == "/login" ? Array("me:s3@c/r:et\n".utf8) : nil }
    #expect(try choice == .url(WebURL("http://me:s3%40c%2Fr%3Aet@proxy.example:3128/"), except: ""))
    #expect(throws: CommandError.self) { try ConnectionFlags.parse(["-U", "me:x"]).proxyChoice { _ in nil } }
    #expect(throws: CommandError.self) {
      try ConnectionFlags.parse(["-x", "http://a:b@p", "-U", "me:x"]).proxyChoice { _ in nil }
    }
    #expect(throws: CommandError.self) { try ConnectionFlags.parse(["-x", "p", "-U", "me"]).proxyChoice { _ in nil } }
  }

  @Test func `a key's password may stand in a file or apart`() throws {
    for password in ["@/key", "s3cret"] {
      let flags = try ConnectionFlags.parse(["-E", "a.pem", "--pass", password])
      let identity = try flags.identity { path in path == "/key" ? Array("s3cret\n".utf8) : nil }
      #expect(identity == ClientIdentity(certificate: "a.pem", key: nil, password: "s3cret"))
    }
    #expect(throws: CommandError.self) { try ConnectionFlags.parse(["--pass", "x"]).identity { _ in nil } }
    #expect(throws: CommandError.self) {
      try ConnectionFlags.parse(["-E", "a.pem:y", "--pass", "x"]).identity { _ in nil }
    }
    let marked = try ConnectionFlags.parse(["-E", "a.pem:\u{301}s3cret"]).identity { _ in nil }
    #expect(marked?.certificate == "a.pem" && marked?.password?.text == "\u{301}s3cret")
  }

  @Test func `a store may be named by a file`() async throws {
    var fixture = CommandFixture()
    fixture.files = ["/store": "redis://:s3cret@[::1\n"]
    for command in [["resolve", "--store", "@/store", "a.example"], ["cache", "stats", "--store", "@/store"]] {
      let outcome = await fixture.run(command)
      #expect(outcome.status == 64 && outcome.errors.hasPrefix("dnsctl: --store: "), "\(outcome)")
      #expect(!outcome.errors.contains("s3cret"))
    }
    #expect(await CommandFixture().run(["resolve", "--store", "@/none", "a.example"]).status == 74)
  }
}
