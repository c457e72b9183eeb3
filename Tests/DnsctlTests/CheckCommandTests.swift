// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1)))
struct CheckCommandTests {
  private func fixture() -> CommandFixture {
    var fixture = CommandFixture()
    fixture.systemZone = ["example.com": .addresses(["192.0.2.1"])]
    return fixture
  }

  private func provider(_ configuration: FakeProviderConfiguration = .init()) async throws -> FakeProvider {
    var records = RecordTable()
    records.add("example.com", "192.0.2.1", ttl: 60)
    return try await FakeProvider.start(records: records, configuration: configuration)
  }

  /// The findings by what they are about.
  private func findings(_ outcome: CommandFixture.Outcome) throws -> [String: String] {
    let objects = try outcome.output.split(separator: "\n").map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    return Dictionary(
      objects.compactMap { object in
        guard let subject = object["subject"] as? String, let grade = object["grade"] as? String else { return nil }
        return (subject, "\(grade): \(object["detail"] as? String ?? "")")
      }
    ) { first, _ in first }
  }

  private func url(_ server: FakeProvider, host: String? = nil) -> String {
    "json+\(server.url("/resolve", host: host))"
  }

  @Test func `where all is well it says so and ends with 0`() async throws {
    let server = try await provider(.init(clock: StillClock()))
    let outcome = await fixture().run(["check", "--provider", url(server)])
    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(outcome.output.hasSuffix("\nAll is well.\n"))
    for line in ["ok    configuration", "ok    clock", "ok    IPv6", "ok    system DNS", "ok    store"] {
      #expect(outcome.output.contains(line), "\(line): \(outcome.output)")
    }
    #expect(server.requests.count == 1)
    await server.stop()
  }

  @Test(arguments: [
    ("socks5://127.0.0.1:1080", "only HTTP proxies that take no TLS are checked: write http://ADDRESS:PORT."),
    ("https://127.0.0.1:3128", "only HTTP proxies that take no TLS are checked: write http://ADDRESS:PORT."),
    ("unix:s.sock", "a proxy at a Unix socket cannot be checked: give an address of it"),
    ("proxy.example:3128", "give the proxy's address, such as http://127.0.0.1:3128."),
    ("HTTP://a:b@127.0.0.1:3128", "name and password have their place in --proxy-user @FILE."),
  ])
  func `a proxy that cannot be checked is refused with what can`(_ proxy: String, _ reason: String) async {
    let outcome = await fixture().run(["check", "--proxy", proxy])
    #expect(outcome.status == 64 && outcome.errors.hasPrefix("dnsctl: --proxy: \(reason)"), "\(outcome)")
  }

  @Test func `an empty variable names no configuration file`() async throws {
    let server = try await provider(.init(clock: StillClock()))
    var fixture = fixture()
    fixture.environment["DIRECTDNS_CONFIG"] = ""
    let outcome = await fixture.run(["check", "--provider", url(server)])
    #expect(outcome.status == 0 && outcome.output.contains(" no file; asks "), "\(outcome)")
    await server.stop()
  }

  @Test func `a misspelt variable is a finding, and told once`() async throws {
    let server = try await provider(.init(clock: StillClock()))
    var fixture = fixture()
    fixture.environment["DIRECTDNS_TIMOUT"] = "3"
    let outcome = await fixture.run(["check", "--provider", url(server)])
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    #expect(outcome.output.contains("DIRECTDNS_TIMOUT changes nothing"), "\(outcome)")
    await server.stop()
  }

  @Test(arguments: ["printer.local", "intranet", "localhost", "shop.onion", "a.invalid", "db.corp.example"])
  func `a name of this network is sent to nobody`(_ name: String) async throws {
    let server = try await provider(.init(clock: StillClock()))
    var fixture = fixture()
    fixture.files["c.json5"] = #"{ localZones: ["corp.example"] }"#
    let outcome = await fixture.run(["check", "--config", "c.json5", "--name", name, "--provider", url(server)])
    #expect(
      outcome.status == 64 && outcome.errors.contains("--name: providers cannot be asked for \(name): "), "\(outcome)")
    #expect(server.requests.isEmpty)
    await server.stop()
  }

  @Test(arguments: [([], "A"), (["--family", "ipv4"], "A"), (["-6"], "AAAA")])
  func `the family that is looked up is asked for`(_ arguments: [String], _ type: String) async throws {
    let server = try await provider(.init(clock: StillClock()))
    _ = await fixture().run(["check", "--provider", url(server)] + arguments)
    #expect(server.requests.flatMap(\.questions).map { "\($0.type)" } == [type])
    await server.stop()
  }

  @Test func `a provider over TLS can be checked again and again`() async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let server = try await provider(.init(identity: try authority.issue(names: ["dns.test"]), clock: StillClock()))
    for _ in 0..<20 {
      let outcome = await fixture().run([
        "check", "--provider", url(server, host: "dns.test"), "--bootstrap", "dns.test=127.0.0.1", "--ca", file.path,
      ])
      #expect(outcome.status == 0, "\(outcome.output)")
    }
    #expect(server.requests.count == 20)
    await server.stop()
  }

  @Test func `a dead provider fails, the others are asked all the same`() async throws {
    let (server, dead) = (try await provider(.init(clock: StillClock())), try await provider())
    await dead.stop()
    let outcome = await fixture().run(["check", "--format", "json", "--provider", url(dead), "--provider", url(server)])
    #expect(outcome.status == 2)
    let found = try findings(outcome)
    #expect(found[dead.baseURL]?.hasPrefix("fail: ") == true)
    #expect(found[server.baseURL]?.hasPrefix("ok: ") == true && found["providers"] == nil)
    await server.stop()
  }

  @Test func `when no provider answers that is a failure of its own`() async throws {
    let dead = try await provider()
    await dead.stop()
    let found = try findings(await fixture().run(["check", "--format", "json", "--provider", url(dead)]))
    #expect(found["providers"] == "fail: none answers: lookups go to the system's DNS alone")
    let alone = try findings(
      await fixture().run(["check", "--format", "json", "--no-system", "--provider", url(dead)]))
    #expect(alone["providers"] == "fail: none answers: no name can be looked up" && alone["system DNS"] == "ok: off")
  }

  @Test func `every address of a provider is asked, and its certificate is held against its name`() async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let server = try await provider(
      .init(identity: try authority.issue(names: ["dns.test"], validity: .expired), clock: StillClock()))
    let arguments = [
      "check", "--format", "json", "--ca", file.path, "--provider", url(server, host: "dns.test"), "--bootstrap",
      "dns.test=127.0.0.1", "--bootstrap", "dns.test=127.0.0.2",
    ]
    let outcome = await fixture().run(arguments)
    #expect(outcome.status == 2)
    let found = try findings(outcome)
    #expect(found["dns.test 127.0.0.1"]?.contains("expired") == true && found["dns.test 127.0.0.2"] != nil, "\(found)")
    #expect(server.requests.isEmpty)
    await server.stop()
  }

  @Test func `a skewed clock is found by what providers say the time is`() async throws {
    let server = try await provider()
    let found = try findings(await fixture().run(["check", "--format", "json", "--provider", url(server)]))
    #expect(found["clock"]?.hasPrefix("fail: ") == true, "the world's clock stands in 2023")
    await server.stop()
  }

  @Test func `a provider's name that nobody knows is a failure that names --bootstrap`() async throws {
    let outcome = await fixture().run(["check", "--provider", "doh+https://dns.nowhere.test/dns-query"])
    #expect(outcome.status == 2 && outcome.output.contains("--bootstrap dns.nowhere.test=ADDRESS"))
  }

  @Test func `a provider whose name has an IPv6 address alone is asked at it`() async throws {
    let server = try await provider()
    await server.stop()
    var fixture = fixture()
    fixture.systemZone["six.test"] = .addresses(["::1"])
    let outcome = await fixture.run([
      "check", "--format", "json", "--provider", "doh+https://six.test:\(server.port)/dns-query",
    ])
    let found = try findings(outcome)
    #expect(found.keys.contains { $0.hasSuffix(" ::1") }, "\(found)")
    #expect(!outcome.output.contains("knows no address"))
  }

  @Test(arguments: [
    ("doh+https://six.test/dns-query", ["--bootstrap", "six.test=2001:db8::53"], "six.test", "--bootstrap six.test="),
    ("doh+https://six.test/dns-query", [], "six.test", "--bootstrap six.test=ADDRESS"),
    ("doh+https://[2001:db8::53]/dns-query", [], "2001:db8::53", "Name another provider"),
  ])
  func `a provider with IPv6 addresses alone fails by name where there is no route for them`(
    _ provider: String, _ arguments: [String], _ host: String, _ advice: String
  ) async throws {
    var fixture = fixture()
    fixture.systemZone["six.test"] = .addresses(["2001:db8::53"])
    let outcome = await fixture.run(["check", "--format", "json", "--provider", provider] + arguments)
    #expect(outcome.status == 2 && outcome.output.contains(advice), "\(outcome.output)")
    let told = try findings(outcome).filter { $0.key.contains(host) }
    #expect(Array(told.values) == ["fail: only IPv6 addresses, and no route"], "\(outcome.output)")
  }

  @Test func `a system's DNS that fails, and a network without a route, are told`() async throws {
    let server = try await provider(.init(clock: StillClock()))
    var fixture = fixture()
    fixture.systemZone = [:]
    let warned = await fixture.run(["check", "--provider", url(server)])
    #expect(warned.status == 0 && warned.output.contains("warn  system DNS") && warned.output.hasSuffix("1 warning.\n"))
    #expect(await CommandFixture().run(["check", "--strict", "--provider", url(server)]).status == 1)
    fixture.hasRoutes = []
    #expect(await fixture.run(["check", "--provider", url(server)]).status == 2)
    await server.stop()
  }

  @Test func `a store is read, and one that fails is told`() async throws {
    let server = try await provider(.init(clock: StillClock()))
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString).sqlite").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let command = ["check", "--format", "json", "--store", file, "--provider", url(server)]
    let before = try findings(await fixture().run(command))
    #expect(before["store"] == "ok: there is none at \(file) yet; the first answer makes it")
    #expect(!FileManager.default.fileExists(atPath: file), "a look makes none")
    var asking = fixture()
    asking.zone = asking.systemZone
    let answered = await asking.run(["resolve", "example.com", "--store", file])
    #expect(answered.status == 0, "\(answered)")
    let found = try findings(await fixture().run(command))
    #expect(found["store"]?.hasPrefix("ok: sqlite knows example.com") == true, "\(found)")
    let gone = await fixture().run(["check", "--store", "redis://127.0.0.1:1", "--provider", url(server)])
    #expect(gone.status == 2 && gone.output.contains("fail  store"))
    await server.stop()
  }

  @Test func `a link that leads nowhere is no store that is yet to be made`() async throws {
    let folder = try TestFolder()
    let server = try await provider(.init(clock: StillClock()))
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "none/answers.sqlite")
    let outcome = await fixture().run(["check", "--format", "json", "--store", link, "--provider", url(server)])
    let found = try findings(outcome)["store"]
    #expect(found?.hasPrefix("fail: sqlite: ") == true, "\(outcome)")
    #expect(found?.contains("it is a link that leads nowhere") == true, "\(outcome)")
    let listed = await CommandFixture().run(["cache", "list", "--store", link])
    #expect(listed.status == 74 && listed.errors.contains("it is a link that leads nowhere"), "\(listed)")
    await server.stop()
  }

  /// A store with an answer, in a folder whose path has no link.
  private func filledStore(in folder: TestFolder) async -> (folder: String, file: String) {
    let real = unsafe realpath(folder.path, nil)
    let root = unsafe real.map { unsafe String(cString: $0) } ?? folder.path
    unsafe free(real)
    let file = root + "/answers.sqlite"
    var asking = fixture()
    asking.zone = asking.systemZone
    _ = await asking.run(["resolve", "example.com", "--provider", "google", "--store", file])
    return (root, file)
  }

  @Test func `what keeps a store from being written to is found by whatever path`() async throws {
    let folder = try TestFolder()
    let (root, file) = await filledStore(in: folder)
    let link = root + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "answers.sqlite")
    for path in [file, link] {
      #expect(Checkup.whatIsReadOnly(path) { _ in true } == nil)
      #expect(Checkup.whatIsReadOnly(path) { $0 != file } == file)
      #expect(Checkup.whatIsReadOnly(path) { $0 != root } == root)
    }
  }

  @Test(.enabled(if: geteuid() != 0, "nothing keeps root from writing"))
  func `a store that can be read and not written to is warned of`() async throws {
    let folder = try TestFolder()
    let (_, file) = await filledStore(in: folder)
    let server = try await provider(.init(clock: StillClock()))
    #expect(unsafe chmod(file, 0o400) == 0)
    let outcome = await fixture().run(["check", "--format", "json", "--store", file, "--provider", url(server)])
    let found = try findings(outcome)["store"]
    #expect(found == "warn: sqlite knows example.com, and \(file) may not be written to", "\(outcome)")
    await server.stop()
  }

  @Test(arguments: [
    ("{ providers: [], system: false }", "There is no provider, and the system's DNS is off"),
    ("{ providers: ['doh+https://dns.test/dns-query'], system: false }", "no address is known for dns.test"),
    ("{ capacity: 1, keepAlive: ['a.example', 'b.example'] }", "keepAlive has 2 names, and capacity is 1"),
  ])
  func `a configuration that no resolver takes ends it as it ends a proxy`(_ text: String, _ reason: String) async {
    var fixture = fixture()
    fixture.files["c.json5"] = text
    let outcome = await fixture.run(["check", "--config", "c.json5"])
    #expect(outcome.status == 78 && outcome.output == "" && outcome.errors.contains(reason), "\(outcome)")
  }

  @Test func `a bad name or configuration is told as everywhere`() async {
    #expect(await fixture().run(["check", "--name", "a..b"]).status == 64)
    #expect(await fixture().run(["check", "--config", "/none.json5"]).status == 78)
  }
}
