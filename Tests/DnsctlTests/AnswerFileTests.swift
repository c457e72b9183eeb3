// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting
@testable import DnsctlCommands

@Suite struct `An export` {
  private static let now = WallInstant(milliseconds: 1_700_000_000_000)
  private static let head = #"{"format":"directdns-answers","version":1}"#

  private static func line(
    host: String = "www.example.com", address: String = "192.0.2.1", age: Int = 0, type: String = "A"
  ) -> String {
    let asked = now.milliseconds - Int64(age) * 1000
    return
      #"{"host":"\#(host)","type":"\#(type)","addresses":["\#(address)"],"negative":null,"canonicalName":null,"provider":"alidns","asked":\#(asked),"expires":\#(asked + 100_000),"gone":\#(asked + 86_500_000)}"#
  }

  private func importing(_ lines: String..., into store: MemoryAnswerStore = MemoryAnswerStore()) async
    -> CommandFixture.Outcome
  {
    var fixture = CommandFixture()
    fixture.store = store
    fixture.input = ScriptedInput([lines.joined(separator: "\n")])
    return await fixture.run(["cache", "import", "--store", "redis://cache.example"])
  }

  @Test func `is imported as it was, whatever kind of answer it is`() async throws {
    let store = MemoryAnswerStore()
    let answers = AnswerStoreContract.samples.map { answer in
      var answer = answer
      (answer.asked, answer.expires) = (Self.now - .milliseconds(1234), Self.now + .seconds(5))
      answer.gone = Self.now + .seconds(500)
      return answer
    }
    store.write(answers)
    var fixture = CommandFixture()
    fixture.store = store
    let exported = await fixture.run(["cache", "export", "--store", "redis://cache.example"])
    #expect(exported.status == 0)
    let copy = MemoryAnswerStore()
    let outcome = await importing(exported.output, into: copy)
    #expect(outcome.output == "\(answers.count) stored, 0 kept as newer or the same, 0 gone\n", "\(outcome.errors)")
    #expect(Set(copy.read(answers.map(\.question))) == Set(answers))
  }

  @Test func `is imported though an answer in it is never gone`() async throws {
    let question = AddressQuestion(try HostName("www.example.com"), .ipv4)
    let store = MemoryAnswerStore()
    store.write([
      StoredAnswer(
        question, .addresses([.ipv4(0xc000_0201)]), provider: "one", asked: Self.now - .seconds(1),
        expires: Self.now + .seconds(100), gone: WallInstant(milliseconds: .max))
    ])
    var fixture = CommandFixture()
    fixture.store = store
    let exported = await fixture.run(["cache", "export", "--store", "redis://cache.example"])
    #expect(exported.output.contains(#""asked":1699999999000,"expires":1700000100000,"gone":9007199254740991}"#))
    let copy = MemoryAnswerStore()
    let outcome = await importing(exported.output, into: copy)
    #expect(outcome.output == "1 stored, 0 kept as newer or the same, 0 gone\n", "\(outcome.errors)")
    #expect(copy.read([question]).count == 1)
  }

  @Test func `goes into a file, which stays as it is until the new one is whole`() async throws {
    let folder = try TestFolder()
    let store = MemoryAnswerStore()
    #expect(
      await importing(Self.head, Self.line(), Self.line(host: "old.example", age: 100_000), into: store).status == 0)
    var fixture = CommandFixture()
    fixture.store = store
    let path = folder.path + "/answers.jsonl"
    let outcome = await fixture.run(["cache", "export", path, "--store", "redis://cache.example"])
    #expect(outcome == CommandFixture.Outcome(status: 0, output: "", errors: ""))
    let text = Self.head + "\n" + Self.line() + "\n"
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    _ = await CommandFixture().run(["cache", "export", path, "--store", "/dev/null/answers.sqlite"])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    let elsewhere = await fixture.run(["cache", "export", "/dev/null/x", "--store", "redis://cache.example"])
    #expect(elsewhere.status == 74)
    #expect(elsewhere.errors == "dnsctl: /dev/null/x cannot be written: Not a directory.\n")
  }

  @Test(arguments: ["answers.sqlite", "folder/../answers.sqlite", "link", "second"])
  func `never takes the place of the store itself, by whatever path`(_ name: String) async throws {
    let folder = try TestFolder()
    let store = folder.path + "/answers.sqlite"
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([Self.head + "\n" + Self.line()])
    #expect(await fixture.run(["cache", "import", "--store", store]).status == 0)
    let files = FileManager.default
    try files.createDirectory(atPath: folder.path + "/folder", withIntermediateDirectories: false)
    try files.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: store)
    try files.linkItem(atPath: store, toPath: folder.path + "/second")
    let path = folder.path + "/" + name
    let outcome = await CommandFixture().run(["cache", "export", path, "--store", store])
    #expect(outcome.status == 64 && outcome.errors.contains("\(path) is the store itself"), "\(outcome)")
    let listed = await CommandFixture().run(["cache", "export", "--store", store])
    #expect(listed.output == Self.head + "\n" + Self.line() + "\n", "\(listed)")
  }

  @Test(arguments: ["answers.sqlite-wal", "folder/../answers.sqlite-shm", "second-wal", "link"])
  func `never takes the place of the store's log, which may be yet to come`(_ name: String) async throws {
    let folder = try TestFolder()
    let store = folder.path + "/answers.sqlite"
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([Self.head + "\n" + Self.line()])
    #expect(await fixture.run(["cache", "import", "--store", store]).status == 0)
    let files = FileManager.default
    try files.createDirectory(atPath: folder.path + "/folder", withIntermediateDirectories: false)
    try files.linkItem(atPath: store, toPath: folder.path + "/second")
    if name == "link" {
      if !files.fileExists(atPath: store + "-wal") { #expect(files.createFile(atPath: store + "-wal", contents: nil)) }
      try files.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: store + "-wal")
    }
    let path = folder.path + "/" + name
    let outcome = await CommandFixture().run(["cache", "export", path, "--store", store])
    #expect(outcome.status == 64 && outcome.errors.contains("\(path) is the store's log"), "\(outcome)")
    let other = await CommandFixture().run(["cache", "export", folder.path + "/other-wal", "--store", store])
    #expect(other.status == 0, "\(other)")
  }

  @Test func `never takes the place of what was asked for later`() async throws {
    let store = MemoryAnswerStore()
    #expect(await importing(Self.head, Self.line(address: "192.0.2.1", age: 50), into: store).status == 0)
    let older = await importing(Self.head, Self.line(address: "192.0.2.2", age: 60), into: store)
    #expect(older.output == "0 stored, 1 kept as newer or the same, 0 gone\n")
    let question = AddressQuestion(try HostName("www.example.com"), .ipv4)
    #expect(store.read([question]).first?.content == .addresses([.ipv4(0xc000_0201)]))
    let newer = await importing(Self.head, Self.line(address: "192.0.2.3", age: 40), into: store)
    #expect(newer.output == "1 stored, 0 kept as newer or the same, 0 gone\n")
    #expect(store.read([question]).first?.content == .addresses([.ipv4(0xc000_0203)]))
  }

  @Test(arguments: [[50, -500], [-500, 50], [-900, 50, -500]])
  func `takes no answer from the future for the newest of a name`(_ ages: [Int]) async throws {
    let store = MemoryAnswerStore()
    let lines = ages.map { Self.line(address: $0 == 50 ? "192.0.2.1" : "192.0.2.66", age: $0) }
    let outcome = await importing(Self.head, lines.joined(separator: "\n"), into: store)
    #expect(outcome.output == "1 stored, 0 kept as newer or the same, 0 gone\n", "\(outcome)")
    let question = AddressQuestion(try HostName("www.example.com"), .ipv4)
    #expect(store.read([question]).first?.content == .addresses([.ipv4(0xc000_0201)]))
  }

  @Test func `never takes the place of what another writes while it is imported`() async throws {
    let store = MemoryAnswerStore()
    let question = AddressQuestion(try HostName("www.example.com"), .ipv4)
    let newer = StoredAnswer(
      question, .addresses([.ipv4(0xc000_0209)]), provider: "other", asked: Self.now, expires: Self.now + .seconds(5),
      gone: Self.now + .seconds(500))
    var fixture = CommandFixture()
    fixture.store = InterruptedStore(base: store, between: newer)
    fixture.input = ScriptedInput([Self.head + "\n" + Self.line(address: "192.0.2.1", age: 1)])
    let outcome = await fixture.run(["cache", "import", "--store", "redis://cache.example"])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(store.read([question]) == [newer])
  }

  @Test func `may name a question more than once, and leaves out what is gone`() async throws {
    let store = MemoryAnswerStore()
    let outcome = await importing(
      "\u{20}", Self.head, "", Self.line(address: "192.0.2.2", age: 10),
      Self.line(address: "192.0.2.1", age: 20) + "\r",
      Self.line(host: "gone.example", age: 100_000), into: store)
    #expect(outcome.output == "1 stored, 0 kept as newer or the same, 1 gone\n")
    let question = AddressQuestion(try HostName("www.example.com"), .ipv4)
    #expect(store.read([question]).first?.content == .addresses([.ipv4(0xc000_0202)]))
  }

  @Test func `may begin with a byte order mark, as some editors write it`() async {
    let outcome = await importing("\u{feff}" + Self.head, Self.line(age: 10))
    #expect(outcome.output == "1 stored, 0 kept as newer or the same, 0 gone\n", "\(outcome)")
  }

  @Test(arguments: [
    (#""host":"www.example.com""#, #""host":"a b""#, #"host is "a b". Give a host name"#),
    (#""host":"www.example.com","#, "", "host is missing. Give a host name."),
    (#""type":"A""#, #""type":"MX""#, #"type is "MX". Give one of "A", "AAAA"."#),
    (#""type":"A""#, #""type":"AAAA""#, #"addresses[0] is "192.0.2.1". Give addresses of the type"#),
    (#"["192.0.2.1"]"#, #"["192.0.2"]"#, #"addresses[0] is "192.0.2". Give an IP address"#),
    (#"["192.0.2.1"]"#, "[]", "addresses is a list. Give 1 to 64 addresses."),
    (#"["192.0.2.1"]"#, "null", "addresses is missing. Give a list of addresses, or negative."),
    (
      #""negative":null"#, #""negative":"noAddress""#,
      #"negative is "noAddress". An answer has addresses or is negative"#
    ),
    (#""provider":"alidns""#, #""provider":"""#, "Give the name of who said it."),
    (#""asked":1700000000000"#, #""asked":1.5"#, "asked is 1.5. Give milliseconds since 1970."),
    (#""asked":1700000000000"#, #""asked":1e300"#, "Give milliseconds since 1970."),
    (#""asked":1700000000000"#, #""asked":1800000000000"#, "asked, expires and gone are not in this order."),
    (#""type":"A""#, #""type":"A","type":"AAAA""#, "The key type is there for the second time"),
    (#""provider""#, #""porvider""#, "porvider is not a key that is known here."), ("{", "[", "The line is not JSON"),
  ])
  func `with a line that is wrong stores nothing and names the line`(part: String, wrong: String, error: String) async {
    let store = MemoryAnswerStore()
    let outcome = await importing(
      Self.head, Self.line(host: "a.example"), Self.line().replacing(part, with: wrong, maxReplacements: 1), into: store
    )
    #expect(outcome.status == 1)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("dnsctl: standard input:3: "), "\(outcome.errors)")
    #expect(outcome.errors.contains(error), "\(outcome.errors)")
    #expect(outcome.errors.hasSuffix("dnsctl: nothing was stored.\n"))
    #expect(store.read([AddressQuestion(HostName(canonical: "a.example"), .ipv4)]).isEmpty)
  }

  @Test func `with many wrong lines names the first ones and counts the rest`() async {
    let outcome = await importing(([Self.head] + (0..<15).map { "\($0)" }).joined(separator: "\n"))
    #expect(outcome.errors.contains("standard input:11: ") && !outcome.errors.contains("standard input:12: "))
    #expect(outcome.errors.contains("dnsctl: and 5 more lines are wrong\n"))
  }

  @Test(arguments: [
    ("", "is empty"), (#"{"format":"directdns-answers","version":2}"#, "This dnsctl reads version 1."),
    (#"{"format":"directdns-answers","version":2,"version":1}"#, "1: The key version is there for the second time"),
    (#"{"version":1}"#, "The first line of an export is"), ("www.example.com\n192.0.2.1", "The line is not JSON"),
  ])
  func `begins with what it is`(text: String, error: String) async {
    let outcome = await importing(text)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(error), "\(outcome.errors)")
    #expect(!outcome.errors.contains(":2:"))
  }

  @Test func `that is not there, or cannot be read, is an error`() async throws {
    let folder = try TestFolder()
    let store = ["--store", folder.path + "/a.db"]
    let missing = await CommandFixture().run(["cache", "import", "/missing.jsonl"] + store)
    #expect(
      missing
        == .init(status: 74, output: "", errors: "dnsctl: /missing.jsonl cannot be read: there is no such file.\n"))
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([], end: .failed("Is a directory"))
    #expect(await fixture.run(["cache", "import"] + store).status == 74)
  }
}

/// A store that another process writes to whenever it was read, and before it is written.
private struct InterruptedStore: AnswerStore {
  let base: MemoryAnswerStore
  let between: StoredAnswer

  var name: String { base.name }

  func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] {
    defer { base.write([between]) }
    return base.read(questions)
  }

  func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) { base.write(answers) }

  func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int {
    base.write([between])
    return await base.writeNewer(answers)
  }

  func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) { base.remove(questions) }

  func removeAll() async throws(DirectDNSError) { base.removeAll() }

  func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
    await base.visit(visit)
  }
}

@Suite struct `A pattern of names` {
  @Test(arguments: [
    ("example", "www.example.com", true), ("*.example.com", "www.example.com", true),
    ("*.example.com", "example.com", false), ("w?w.*", "www.example.com", true), ("*", "a", true), ("", "a.b", true),
    ("*a*b*c", "xaxbxcxc", true), ("*a*b*c", "xaxbxcx", false), ("WWW.*", "www.example.com", true),
    ("www", "ww.w.example", false), ("?", "ab", false), ("bücher", "xn--bcher-kva.example", true),
    ("*.bücher.example", "www.xn--bcher-kva.example", true), ("a*", "ba.example", false),
  ])
  func `means a glob, or a part of a name`(pattern: String, name: String, isMatch: Bool) throws {
    #expect(try NamePattern(pattern).matches(HostName(name)) == isMatch)
  }

  @Test func `that can be no name is a slip of the command line`() async {
    let folder = try? TestFolder()
    let outcome = await CommandFixture(environment: ["XDG_CACHE_HOME": folder?.path ?? ""]).run([
      "cache", "list", "b\u{fc}*",
    ])
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasSuffix("See dnsctl cache list --help.\n"), "\(outcome.errors)")
    #expect(outcome.errors.contains("names are stored in ASCII"), "\(outcome.errors)")
  }
}

@Suite struct `An instant of the wall clock` {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (1_700_000_000_999, "2023-11-14T22:13:20Z"), (-1, "1969-12-31T23:59:59Z"),
      (951_782_400_000, "2000-02-29T00:00:00Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
      (4_107_542_399_000, "2100-02-28T23:59:59Z"), (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
    ] as [(Int64, String)])
  func `is written as RFC 3339 has it`(milliseconds: Int64, text: String) {
    #expect(WallInstant(milliseconds: milliseconds).text == text)
  }
}
