// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `The store of dnsctl cache` {
  private static let commands = [
    ["list"], ["show", "a.example"], ["forget", "a.example"], ["clear", "--yes"], ["export"], ["stats"],
  ]

  @Test(arguments: commands)
  func `is not made by looking into it`(command: [String]) async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    let outcome = await CommandFixture().run(["cache"] + command + ["--store", path])
    #expect(outcome.status == 74)
    #expect(outcome.errors == "dnsctl: there is no store at \(path). Check the path.\n")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `is the one in the cache folder unless one is named, and empty as long as it is not there`() async throws {
    let folder = try TestFolder()
    let environment = ["XDG_CACHE_HOME": folder.path]
    #expect(
      await CommandFixture(environment: environment).run(["cache", "list"]) == .init(status: 0, output: "", errors: ""))
    let empty = await CommandFixture(environment: environment).run(["cache", "stats", "--json"])
    #expect(
      empty.output.hasPrefix(#"{"store":"sqlite","path":"\#(folder.path)/directdns/answers.sqlite","answers":0,"#))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/directdns"))
    let fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.1"])], environment: environment)
    _ = await fixture.resolve(["--provider", "google", "--store", "sqlite", "--family", "ipv4", "www.example.com"])
    let list = await CommandFixture(environment: environment).run(["cache", "list", "--format", "short"])
    #expect(list.output == "www.example.com\n")
    let stats = await CommandFixture(environment: environment).run(["cache", "stats"])
    #expect(stats.output.contains("store      sqlite \(folder.path)/directdns/answers.sqlite\n"))
    #expect(stats.output.contains("\nfile       "))
  }

  @Test(arguments: ["export", "import"])
  func `goes to no file without a name, and comes from none`(command: String) async {
    let outcome = await CommandFixture().run(["cache", command, ""])
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.contains("The name of the file is empty."), "\(outcome)")
  }

  @Test(
    arguments: [(["--store", "memory"], 64, "--store: "), ([], 78, "DIRECTDNS_STORE: ")] as [([String], Int32, String)])
  func `cannot be memory`(arguments: [String], status: Int32, origin: String) async {
    let outcome = await CommandFixture(environment: ["DIRECTDNS_STORE": "memory"]).run(["cache", "list"] + arguments)
    #expect(outcome.status == status)
    #expect(outcome.errors.hasPrefix("dnsctl: \(origin)a store in memory ends with its process"), "\(outcome.errors)")
  }

  @Test(arguments: commands)
  func `is left as it is where it is not a database`(command: [String]) async throws {
    let folder = try TestFolder()
    let path = folder.path + "/notes.txt"
    try "not yours".write(toFile: path, atomically: false, encoding: .utf8)
    for _ in 0..<2 {
      let outcome = await CommandFixture().run(["cache"] + command + ["--store", path])
      #expect(outcome.status == 74)
      #expect(
        outcome.errors
          == "dnsctl: The store \"\(path)\" is not a database. Choose another path, or move the file away if no other program needs it.\n"
      )
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "not yours")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["notes.txt"])
  }

  @Test func `that fails ends a command with 74`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    try "another program's".write(toFile: folder.path + "/x", atomically: false, encoding: .utf8)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for command in Self.commands {
      let outcome = await CommandFixture().run(["cache"] + command + ["--store", path])
      #expect(outcome.status == 74, "\(command)")
      #expect(
        outcome.errors.contains("is not a file that can be a database. Choose another path."), "\(outcome.errors)")
    }
  }

  /// A file with an answer, all of whose pages but the first are damaged.
  private func damagedStore(_ path: String) async throws {
    let fixture = CommandFixture(zone: ["old.example.com": .addresses(["192.0.2.1"])])
    _ = await fixture.resolve(["--provider", "google", "--store", path, "--family", "ipv4", "old.example.com"])
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    let size = try file.seekToEnd()
    try #require(size > 4096)
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size) - 4096))
    try file.close()
  }

  @Test func `is left as it is where it is damaged, until something is written`() async throws {
    let folder = try TestFolder()
    let (path, backup) = (folder.path + "/answers.sqlite", folder.path + "/backup.jsonl")
    try await damagedStore(path)
    try "the backup".write(toFile: backup, atomically: false, encoding: .utf8)
    let commands = [
      ["list"], ["show", "old.example.com"], ["forget", "old.example.com"], ["stats"], ["export", backup],
    ]
    for command in commands + commands {
      let outcome = await CommandFixture().run(["cache"] + command + ["--store", path])
      #expect(outcome.status == 74 && outcome.output.isEmpty, "\(command)")
      #expect(outcome.errors.hasPrefix("dnsctl: The store \"\(path)\" is damaged, and reading leaves it as it is."))
    }
    #expect(try String(contentsOfFile: backup, encoding: .utf8) == "the backup")
    #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))

    let cleared = await CommandFixture().run(["cache", "clear", "--yes", "--store", path])
    #expect(cleared.status == 0 && cleared.output == "everything forgotten\n")
    #expect(cleared.errors.contains("It is \"\(path).damaged\" now, and a new one takes its place."))
    #expect(await CommandFixture().run(["cache", "stats", "--store", path]).status == 0)
  }

  @Test func `is begun anew by a lookup where it is damaged, which goes on without it and then writes`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    try await damagedStore(path)
    let fixture = CommandFixture(zone: ["www.example.com": .addresses(["192.0.2.1"])])
    let outcome = await fixture.resolve([
      "--provider", "google", "--store", path, "--family", "ipv4", "--short", "www.example.com",
    ])
    #expect(outcome.status == 0 && outcome.output == "192.0.2.1\n")
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 2 && lines.first?.contains("The next answer that is stored sets it aside") == true)
    #expect(lines.last?.contains("It is \"\(path).damaged\" now") == true, "\(outcome.errors)")
    let list = await CommandFixture().run(["cache", "list", "--format", "short", "--store", path])
    #expect(list.output == "www.example.com\n")
  }
}
