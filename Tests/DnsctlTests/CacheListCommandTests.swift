// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl cache list` {
  @Test func `shows every answer with its place in life, by name`() async throws {
    let outcome = try await CacheFixture().run("list")
    #expect(
      outcome.output == """
        NAME                       TYPE  TTL    FRESHNESS  AGE    SOURCE  ADDRESSES
        grace.example.com          A     -10 s  grace      110 s  google  192.0.2.3
        old.example.org            A     -24 h  gone       25 h   alidns  192.0.2.5
        stale.example.org          A     -2 h   stale      2 h    alidns  192.0.2.4
        www.example.com            A     100 s  fresh      0 s    alidns  192.0.2.1, 192.0.2.2
        www.example.com            AAAA  20 s   due        80 s   google  2001:db8::1
        xn--bcher-kva.example.net  A     90 s   fresh      10 s   google  nxdomain

        """)
    #expect(outcome == CommandFixture.Outcome(status: 0, output: outcome.output, errors: ""))
  }

  @Test(
    arguments: [
      (["*.example.com"], ["grace.example.com", "www.example.com"]),
      (["EXAMPLE.org"], ["old.example.org", "stale.example.org"]),
      (["www", "grace"], ["grace.example.com", "www.example.com"]),
      (["bücher.example.net"], ["xn--bcher-kva.example.net"]),
      (["--freshness", "stale", "--freshness", "gone"], ["old.example.org", "stale.example.org"]),
      (["--family", "ipv6"], ["www.example.com"]), (["--freshness", "fresh", "org"], []),
      (
        ["--sort", "age"],
        ["www.example.com", "xn--bcher-kva.example.net", "grace.example.com", "stale.example.org", "old.example.org"]
      ),
      (
        ["--sort", "ttl", "--reverse"],
        ["www.example.com", "xn--bcher-kva.example.net", "grace.example.com", "stale.example.org", "old.example.org"]
      ),
      (
        ["--sort", "freshness", "--family", "ipv4"],
        ["www.example.com", "xn--bcher-kva.example.net", "grace.example.com", "stale.example.org", "old.example.org"]
      ),
      (
        ["--sort", "source", "--family", "ipv4"],
        ["old.example.org", "stale.example.org", "www.example.com", "grace.example.com", "xn--bcher-kva.example.net"]
      ),
    ] as [([String], [String])])
  func `filters and sorts, and shows names alone, each once`(arguments: [String], names: [String]) async throws {
    let outcome = try await CacheFixture().run(["list", "--format", "short"] + arguments)
    #expect(outcome.output.split(separator: "\n").map(String.init) == names)
    #expect(outcome.status == 0)
  }

  @Test func `is a line of JSON for each answer`() async throws {
    let outcome = try await CacheFixture().run("list", "--format", "json", "--family", "ipv6")
    #expect(
      outcome.output == """
        {"host":"www.example.com","type":"AAAA","addresses":["2001:db8::1"],"negative":null,"canonicalName":"web.example.net","provider":"google","asked":1699999920000,"expires":1700000020000,"gone":1700086420000,"ttl":20,"age":80,"freshness":"due"}

        """)
    let negative = try await CacheFixture().run("list", "--format", "json", "--sort", "name", "xn--")
    #expect(negative.output.contains(#""addresses":null,"negative":"nameNotFound","canonicalName":null"#))
  }

  @Test func `writes JSON as it is read, page by page, and ends when its reader has gone`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/answers.sqlite"
    var lines = AnswerFile.head
    for number in 0..<1000 {
      lines +=
        #"{"host":"host-\#(number).example","type":"A","addresses":["192.0.2.1"],"provider":"a","asked":1700000000000,"expires":1700000100000,"gone":1700086500000}"#
        + "\n"
    }
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([lines])
    #expect(await fixture.run(["cache", "import", "--store", path]).output.hasPrefix("1000 stored"))
    let whole = CommandFixture()
    #expect(await whole.run(["cache", "list", "--store", path, "--format", "json"]).status == 0)
    #expect(whole.output.writes.count == 4)
    #expect(whole.output.text.split(separator: "\n").count == 1000)
    let cut = CommandFixture()
    cut.output.close(after: 1)
    #expect(await cut.run(["cache", "list", "--store", path, "--format", "json"]).status == 141)
  }

  @Test func `is coloured on a terminal alone`() async throws {
    var fixture = try CacheFixture()
    #expect(await !fixture.run("list").output.contains("\u{1b}"))
    fixture.fixture.isTerminal = true
    let coloured = await fixture.run("list").output
    #expect(coloured.contains("\u{1b}[32mfresh\u{1b}[0m") && coloured.contains("\u{1b}[33mstale\u{1b}[0m"))
  }

  @Test func `judges by the cache's times in the configuration file`() async throws {
    var fixture = try CacheFixture()
    fixture.fixture.files = ["/c.json5": "{ cache: { grace: 0, maximumStale: 100 } }"]
    let outcome = await fixture.run("list", "--config", "/c.json5", "--format", "short", "--freshness", "gone")
    #expect(outcome.output == "old.example.org\nstale.example.org\n")
  }
}
