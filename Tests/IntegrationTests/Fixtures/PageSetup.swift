// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import Demo

/// What has to be there for a block that holds a phrase.
struct PageSetup {
  var phrase: String
  /// Whether the machine is the one of the block before it, with all that was done there.
  var goesOn = false
  var prepare: (PageFixture) async throws -> Void = { _ in }

  private static func served(_ fixture: PageFixture) async throws { try await fixture.serve() }

  static var all: [PageSetup] {
    [
      // The README's commands, one after the other in one terminal.
      PageSetup(phrase: "dnsctl resolve www.example.test both", prepare: served),
      PageSetup(phrase: "dnsctl compare -4 bank.example.test", goesOn: true),
      PageSetup(phrase: "dnsctl warmup --store sqlite www.example.test pay", goesOn: true),
      PageSetup(phrase: "dnsctl fetch --store sqlite", goesOn: true),
      PageSetup(phrase: "dnsctl exec --store sqlite", goesOn: true),
      PageSetup(phrase: "dnsctl resolve www.example.test shop.example.test both", prepare: served),
      PageSetup(phrase: "dnsctl resolve --trace", prepare: served),
      PageSetup(phrase: "printf '# two names", prepare: served),
      PageSetup(phrase: "dnsctl fetch -k"),
      PageSetup(phrase: "$ dnsctl exec -- python3 -c", prepare: served),
      PageSetup(phrase: "$http_proxy/proxy.pac", prepare: served),
      PageSetup(phrase: "/cart?id=7'\nhttps"),
      PageSetup(phrase: "/cart?id=7#top'"),
      PageSetup(phrase: "--format curl 'https://shop.example:8443"),
      PageSetup(phrase: "dnsctl restore"),
      PageSetup(phrase: "--config config.json5") { fixture in
        try fixture.write(#"{ timeout: "5" }"#, to: "config.json5")
      },
      PageSetup(phrase: "--timeout 1 ") { fixture in
        try await fixture.serve()
        for server in [fixture.stage?.doh, fixture.stage?.json] { server?.isMute = true }
      },
      warmup,
      PageSetup(phrase: "/dev/null/x", prepare: served),
      PageSetup(phrase: "dnsctl cache list", prepare: stored),
      PageSetup(phrase: "dnsctl watch", prepare: served),
      PageSetup(phrase: "dnsctl check") { fixture in
        try await fixture.serve()
        await fixture.stage?.json.stop()
        try FileManager.default.removeItem(at: fixture.folder.appending(path: ".config"))
      },
      PageSetup(phrase: "| Pipeline", prepare: pipeline),
    ]
  }

  /// Fifty names, one that is none, an address, and one that does not exist.
  private static var warmup: PageSetup {
    var setup = PageSetup(phrase: "dnsctl warmup --hosts")
    setup.prepare = { fixture in
      let names = (1...50).map { "host-\($0).example.net" }
      let authority = try TestCertificateAuthority()
      let file = try authority.makeFile()
      var records = RecordTable()
      for name in names { records.add(name, "192.0.2.7", ttl: 300) }
      let provider = try await FakeProvider.start(
        records: records, configuration: .init(identity: try authority.issue(names: ["doh.test"])))
      fixture.environment["DIRECTDNS_PROVIDERS"] = "doh+https://doh.test:\(provider.port)/dns-query"
      fixture.environment["DIRECTDNS_BOOTSTRAP"] = "doh.test=127.0.0.1"
      fixture.environment["DIRECTDNS_CA"] = file.path
      fixture.environment["DIRECTDNS_SYSTEM"] = "false"
      let lines = names + ["b example", "192.0.2.7", "nope.example.org"]
      try fixture.write(lines.joined(separator: "\n") + "\n", to: "hosts.txt")
      fixture.behind {
        await provider.stop()
        withExtendedLifetime(file) {}
      }
    }
    return setup
  }

  /// A store whose answers were asked for 21 s ago.
  private static func stored(_ fixture: PageFixture) async throws {
    try await fixture.serve()
    fixture.environment["DIRECTDNS_STORE"] = "sqlite"
    let file = fixture.folder.appending(path: ".cache/directdns/answers.sqlite")
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
  private static func pipeline(_ fixture: PageFixture) async throws {
    var records = RecordTable()
    records.add("hooks.example.test", "127.0.0.1", ttl: 300)
    let provider = try await FakeProvider.start(records: records)
    let origin = try await FakeOrigin.start { _ in OriginResponse(.noContent) }
    try fixture.write(
      """
      {
        providers: ["json+\(provider.url("/resolve"))"], system: false,
        addressPolicy: { allow: ["127.0.0.0/8"] },
      }
      """, to: "directdns.json5")
    try fixture.write("hooks.example.test\n", to: "hosts")
    fixture.ports["8080"] = origin.port
    fixture.behind {
      await provider.stop()
      await origin.stop()
    }
  }
}
