// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import Demo

/// A machine for the blocks of a page: a home of its own, the programs in `PATH`, and servers on loopback.
final class PagePlay {
  let folder: URL
  var environment: [String: String]
  /// Ports of the pages, and those that stand for them here.
  var ports: [String: Int] = [:]
  private var ends: [() async -> Void] = []
  /// The demonstration's servers, where a scene has them.
  private(set) var stage: Stage?

  init() async throws {
    folder = try ServerFixture.newFolder("page")
    let programs = folder.appending(path: "bin")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    for (name, program) in [
      ("dnsctl", Program.url), ("Demo", ServerFixture.product("Demo")), ("Pipeline", ServerFixture.product("Pipeline")),
    ] {
      try FileManager.default.createSymbolicLink(at: programs.appending(path: name), withDestinationURL: program)
    }
    environment = ["PATH": "\(programs.path):/usr/bin:/bin", "HOME": folder.path]
  }

  /// What `Demo --serve` prints, without asking a second provider when a busy machine makes the first one slow.
  func serve() async throws {
    let serving = try await Serving(console: Console(), stage: Stage(), shop: Shop())
    let stage = serving.stage
    self.stage = stage
    for (key, value) in serving.environment { environment[key] = value }
    try write("{ hedging: false }", to: ".config/directdns/config.json5")
    behind {
      await stage.doh.stop()
      await stage.json.stop()
      await serving.shop.origin.stop()
    }
  }

  func behind(_ end: @escaping () async -> Void) { ends.append(end) }

  func end() async { for end in ends.reversed() { await end() } }

  func write(_ text: String, to name: String) throws {
    let file = folder.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  /// What a shell writes on both streams, as a terminal shows them.
  func run(_ command: String) async throws -> String {
    // Each command has a shell of its own: what is exported holds from here on.
    if let variable = command.wholeMatch(of: #/export (\w+)=(\S+)( +#.*)?/#) {
      environment[String(variable.1)] = String(variable.2)
      return ""
    }
    let output = folder.appending(path: ".output")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    let command = ports.reduce(command) { $0.replacing(":\($1.key)/", with: ":\($1.value)/") }
    process.arguments = ["-c", "exec 2>&1\n\(command)"]
    process.currentDirectoryURL = folder
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in continuation.yield() }
    try ServerFixture.launch(process)
    _ = await ended.first { true }
    // The pages' reader is called Ada.
    return try String(contentsOf: output, encoding: .utf8).replacing(folder.path, with: "/home/ada")
  }
}

/// What has to be there for a block that holds a phrase.
struct PageScene {
  var phrase: String
  /// Whether the machine is the one of the block before it, with all that was done there.
  var goesOn = false
  var prepare: (PagePlay) async throws -> Void = { _ in }

  private static func served(_ play: PagePlay) async throws { try await play.serve() }

  static var all: [PageScene] {
    [
      // The README's commands, one after the other in one terminal.
      PageScene(phrase: "dnsctl resolve www.example.test both", prepare: served),
      PageScene(phrase: "dnsctl compare -4 bank.example.test", goesOn: true),
      PageScene(phrase: "dnsctl warmup --store sqlite www.example.test pay", goesOn: true),
      PageScene(phrase: "dnsctl fetch --store sqlite", goesOn: true),
      PageScene(phrase: "dnsctl exec --store sqlite", goesOn: true),
      PageScene(phrase: "$ dnsctl exec -- curl"),
      PageScene(phrase: "dnsctl resolve www.example.test shop.example.test both", prepare: served),
      PageScene(phrase: "dnsctl resolve --trace", prepare: served),
      PageScene(phrase: "printf '# two names", prepare: served),
      PageScene(phrase: "dnsctl fetch -k"),
      PageScene(phrase: "$ dnsctl exec -- python3 -c", prepare: served),
      PageScene(phrase: "$http_proxy/proxy.pac", prepare: served),
      PageScene(phrase: "/cart?id=7'\nhttps"),
      PageScene(phrase: "/cart?id=7#top'"),
      PageScene(phrase: "--format curl 'https://shop.example:8443"),
      PageScene(phrase: "dnsctl restore"),
      PageScene(phrase: "--config config.json5") { play in try play.write(#"{ timeout: "5" }"#, to: "config.json5") },
      PageScene(phrase: "--timeout 1 ") { play in
        try await play.serve()
        for server in [play.stage?.doh, play.stage?.json] { server?.isMute = true }
      },
      warmup,
      PageScene(phrase: "/dev/null/x", prepare: served),
      PageScene(phrase: "dnsctl cache list", prepare: stored),
      PageScene(phrase: "dnsctl watch", prepare: served),
      PageScene(phrase: "dnsctl check") { play in
        try await play.serve()
        await play.stage?.json.stop()
        try FileManager.default.removeItem(at: play.folder.appending(path: ".config"))
      },
      PageScene(phrase: "| Pipeline", prepare: pipeline),
    ]
  }

  /// Fifty names, one that is none, an address, and one that does not exist.
  private static var warmup: PageScene {
    var scene = PageScene(phrase: "dnsctl warmup --hosts")
    scene.prepare = { play in
      let names = (1...50).map { "host-\($0).example.net" }
      let authority = try TestCertificateAuthority()
      let file = try authority.makeFile()
      var records = RecordTable()
      for name in names { records.add(name, "192.0.2.7", ttl: 300) }
      let provider = try await FakeProvider.start(
        records: records, configuration: .init(identity: try authority.issue(names: ["doh.test"])))
      play.environment["DIRECTDNS_PROVIDERS"] = "doh+https://doh.test:\(provider.port)/dns-query"
      play.environment["DIRECTDNS_BOOTSTRAP"] = "doh.test=127.0.0.1"
      play.environment["DIRECTDNS_CA"] = file.path
      play.environment["DIRECTDNS_SYSTEM"] = "false"
      let lines = names + ["b example", "192.0.2.7", "nope.example.org"]
      try play.write(lines.joined(separator: "\n") + "\n", to: "hosts.txt")
      play.behind {
        await provider.stop()
        withExtendedLifetime(file) {}
      }
    }
    return scene
  }

  /// A store whose answers were asked for 21 s ago.
  private static func stored(_ play: PagePlay) async throws {
    try await play.serve()
    play.environment["DIRECTDNS_STORE"] = "sqlite"
    let file = play.folder.appending(path: ".cache/directdns/answers.sqlite")
    let asked = WallInstant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) - 21_000)
    let alias = try HostName("www.example.test")
    let address = try #require(IPAddress("192.0.2.10"))
    var answers: [StoredAnswer] = []
    for (host, ttl) in [(try HostName("shop.example.test"), 20), (alias, 60)] {
      let expires = asked + .seconds(ttl)
      let name = host == alias ? nil : alias
      answers.append(
        StoredAnswer(
          AddressQuestion(host, .ipv4), .addresses([address]), canonicalName: name, provider: "doh.test", asked: asked,
          expires: expires, gone: expires + .seconds(86_400)))
      answers.append(
        StoredAnswer(
          AddressQuestion(host, .ipv6), .negative(.noAddress), canonicalName: nil, provider: "doh.test", asked: asked,
          expires: expires, gone: expires))
    }
    try await SQLiteAnswerStore(SQLiteStoreConfiguration(path: file.path)).write(answers)
  }

  /// A receiver of webhooks.
  private static func pipeline(_ play: PagePlay) async throws {
    var records = RecordTable()
    records.add("hooks.example.test", "127.0.0.1", ttl: 300)
    let provider = try await FakeProvider.start(records: records)
    let origin = try await FakeOrigin.start { _ in OriginResponse(.noContent) }
    try play.write(
      """
      {
        providers: ["json+\(provider.url("/resolve"))"], system: false,
        addressPolicy: { allow: ["127.0.0.0/8"] },
      }
      """, to: "directdns.json5")
    try play.write("hooks.example.test\n", to: "hosts")
    play.ports["8080"] = origin.port
    play.behind {
      await provider.stop()
      await origin.stop()
    }
  }
}
