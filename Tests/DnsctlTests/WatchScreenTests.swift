// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct WatchScreenTests {
  private static func resolution(
    _ addresses: String..., freshness: Resolution.Freshness = .fresh, left: Int64 = 42
  ) -> Resolution {
    Resolution(
      addresses: AddressList(addresses.compactMap(IPAddress.init)), canonicalName: nil, freshness: freshness,
      source: .provider("google"), ageNanoseconds: 1_000_000_000,
      timeToLiveNanoseconds: left * 1_000_000_000)
  }

  private static func status(_ name: String, isOpen: Bool = false) -> ProviderStatus? {
    guard let url = try? WebURL("https://dns.example/resolve") else { return nil }
    var health = ServerHealth()
    for number in 1...20 { health.answered(in: .milliseconds(number), at: ResolverInstant(nanoseconds: 0)) }
    var status = ProviderStatus(JSONProvider(name: name, url: url), health)
    (status.failures, status.isBreakerOpen) = (3, isOpen)
    return status
  }

  private var snapshot: WatchSnapshot {
    WatchSnapshot(
      rows: [
        .init(host: "www.example.com", resolution: Self.resolution("192.0.2.1", "192.0.2.2"), lookups: 12, hits: 11),
        .init(host: "new.example.com"),
        .init(host: "bad.example.com", lookups: 3, lastError: "bad.example.com does not exist."),
      ],
      upstreams: [Self.status("google"), Self.status("alidns", isOpen: true)].compactMap(\.self), elapsed: .seconds(75),
      time: WallInstant(milliseconds: 1_700_000_000_000))
  }

  private let plain = WatchScreen(style: TextStyle(isOn: false))

  @Test func `a wide window shows all of it`() {
    #expect(
      plain.text(snapshot, width: 120) == """
        dnsctl watch · 3 names · 75 s · hit rate 73 % (11 of 15)

        NAME             STATE    TTL  ADDRESSES     SOURCE   HITS  LAST ERROR
        www.example.com  fresh   42 s  192.0.2.1 +1  google  11/12
        new.example.com  …                                     0/0
        bad.example.com  failed                                0/3  bad.example.com does not exist.

        PROVIDER  QUERIES  FAILED   MEDIAN      P95  BREAKER
        google         20       3  11.0 ms  20.0 ms  closed
        alidns         20       3  11.0 ms  20.0 ms  open


        """)
  }

  @Test(arguments: [200, 80, 60, 40, 24, 12, 3]) func `no line is wider than the window`(_ width: Int) {
    for line in plain.text(snapshot, width: width).split(separator: "\n") { #expect(line.count <= width) }
  }

  @Test(arguments: [50, 24, 12, 8, 3, 1]) func `a frame is no higher than the window`(_ rows: Int) {
    let frame = plain.frame(snapshot, TerminalSize(columns: 80, rows: rows))
    #expect(frame.hasPrefix("\u{1b}[H") && frame.hasSuffix("\u{1b}[K\u{1b}[J"))
    #expect(frame.split(separator: "\r\n", omittingEmptySubsequences: false).count <= rows)
  }

  @Test func `names that find no room are counted`() {
    let frame = plain.frame(snapshot, TerminalSize(columns: 80, rows: 10))
    #expect(frame.contains("and 1 more") && frame.contains("google") && !frame.contains("bad.example.com"))
  }

  @Test func `what is said and what keys do stands at the end, in the window`() {
    let footer = WatchFooter(message: "configuration: \u{7}x", takesKeys: true)
    let lines = plain.frame(snapshot, TerminalSize(columns: 60, rows: 12), footer)
      .components(separatedBy: "\u{1b}[K\r\n")
    #expect(lines.count <= 12 && lines.last?.hasPrefix("? keys") == true)
    #expect(lines.dropLast().last?.contains("configuration: ") == true && !lines.joined().contains("\u{7}"))
    var told = footer
    told.showsKeys = true
    #expect(plain.frame(snapshot, TerminalSize(columns: 60, rows: 12), told).contains("q quit"))
    #expect(!plain.frame(snapshot, TerminalSize(columns: 60, rows: 12)).contains("keys"))
  }

  @Test func `an answer that ended less than a second ago has no time left, and no minus`() {
    #expect(Duration.milliseconds(-400).rough == "0 s" && Duration.milliseconds(-1400).rough == "-1 s")
    #expect(Duration.seconds(-600).rough == "-10 min" && Duration.zero.rough == "0 s")
  }

  @Test func `an expired answer says for how long it has been over`() {
    var snapshot = snapshot
    snapshot.rows = [.init(host: "a.example", resolution: Self.resolution("192.0.2.1", freshness: .stale, left: -600))]
    #expect(plain.text(snapshot, width: 120).contains("stale  -10 min"))
  }

  @Test func `colours are for those who want them, and do not move the columns`() {
    let coloured = WatchScreen(style: TextStyle(isOn: true)).text(snapshot, width: 120)
    #expect(coloured.contains("\u{1b}[31mopen\u{1b}[0m") && coloured.contains("\u{1b}[32mfresh\u{1b}[0m"))
    #expect(coloured.replacing(#/\u{1b}\[[0-9]+m/#, with: "") == plain.text(snapshot, width: 120))
    #expect(!plain.text(snapshot, width: 120).contains("\u{1b}"))
  }

  @Test func `what names and errors hold reaches no terminal`() {
    var snapshot = snapshot
    snapshot.rows = [.init(host: "a\u{1b}[2J", lastError: "b\u{7}\nc")]
    let text = plain.text(snapshot, width: 120)
    #expect(!text.contains("\u{1b}") && !text.contains("\u{7}") && !text.contains("\nc"))
  }
}
