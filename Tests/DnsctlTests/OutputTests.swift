// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `Written answers` {
  private func resolution(
    _ addresses: [String], _ freshness: Resolution.Freshness, _ source: Resolution.Source, age: Int64,
    left: Int64?,
    alias: String? = nil
  ) throws -> Resolution {
    Resolution(
      addresses: AddressList(addresses.compactMap(IPAddress.init)),
      canonicalName: try alias.map { try HostName($0) },
      freshness: freshness, source: source, ageNanoseconds: age * 1_000_000_000,
      timeToLiveNanoseconds: left.map { $0 * 1_000_000_000 } ?? .max)
  }

  private func render(_ format: OutputFormat, _ host: String, _ resolution: Resolution) -> String {
    let outcome = LookupOutcome(host: host, result: .success(resolution), elapsed: .microseconds(12_345))
    return format.render(outcome, TextTable(hosts: [host], style: TextStyle(isOn: false))).output
  }

  @Test func `say of a stale answer that it is stale`() throws {
    let stale = try resolution(["192.0.2.1"], .stale, .provider("alidns"), age: 500, left: -200)
    #expect(
      render(.text, "a.example", stale)
        == "a.example  192.0.2.1        ttl 30 s  stale (expired 3 min ago)  alidns  12.3 ms\n")
    #expect(
      render(.json, "a.example", stale)
        == #"{"host":"a.example","canonicalName":null,"addresses":["192.0.2.1"],"ttl":30,"age":500,"freshness":"stale","source":"provider","provider":"alidns","elapsedMs":12.345,"error":null}"#
        + "\n")
  }

  @Test(arguments: [
    (Resolution.Freshness.fresh, "fresh"), (.due, "due"), (.grace, "grace (expired 5 s ago)"),
    (.stale, "stale (expired 5 s ago)"),
  ])
  func `tell where the answer stands in its life`(freshness: Resolution.Freshness, text: String) throws {
    let answer = try resolution(["192.0.2.1"], freshness, .system, age: 9, left: freshness <= .due ? 5 : -5)
    #expect(render(.text, "a.example", answer).contains("  \(text)  system  "))
    #expect(
      render(.json, "a.example", answer).contains(#""freshness":"\#(freshness.rawValue)","source":"system""#))
  }

  @Test(arguments: [
    (Resolution.Source.provider("a/\"b"), #""source":"provider","provider":"a/\"b""#),
    (.system, #""source":"system","provider":null"#), (.literal, #""source":"literal","provider":null"#),
    (.pin, #""source":"pin","provider":null"#), (.local, #""source":"local","provider":null"#),
    (.store, #""source":"store","provider":null"#),
  ])
  func `name their source`(source: Resolution.Source, text: String) throws {
    #expect(
      render(.json, "a.example", try resolution(["192.0.2.1"], .fresh, source, age: 0, left: nil)).contains(
        text))
  }

  @Test func `align addresses of all lengths`() throws {
    let answer = try resolution(
      ["2001:db8:1:2:3:4:5:6", "192.0.2.1"], .fresh, .pin, age: 0, left: nil, alias: "b.example")
    #expect(
      render(.text, "a.example", answer) == """
        a.example  2001:db8:1:2:3:4:5:6  fresh  pin  12.3 ms
                   192.0.2.1
                   alias of b.example

        """)
    #expect(render(.short, "a.example", answer) == "2001:db8:1:2:3:4:5:6\n192.0.2.1\n")
  }

  @Test(arguments: [
    ("a/b", #""a/b""#), ("\"\\", #""\"\\""#), ("\n\r\t\u{0}\u{1f}", #""\n\r\t\u0000\u001f""#),
    ("ü\u{7f}\u{2028}", #""ü\u007f\u2028""#), ("👍", "\"👍\""),
  ])
  func `escape in JSON what must be escaped, and no slash`(text: String, json: String) {
    #expect(JSONLine.string(text) == json)
  }

  @Test(arguments: [
    (Duration.zero, "0", "0.0 ms"), (.microseconds(7), "0.007", "0.0 ms"),
    (.microseconds(1230), "1.23", "1.2 ms"),
    (.milliseconds(12), "12", "12.0 ms"), (.seconds(3), "3000", "3.00 s"),
    (.milliseconds(1257), "1257", "1.26 s"), (.seconds(Int64.max), "9223372036854.775", "9223372036.85 s"),
    (.seconds(Int64.min), "0", "0.0 ms"),
  ])
  func `write times with a point, whatever the locale`(duration: Duration, json: String, text: String) {
    #expect(duration.milliseconds == json)
    #expect(duration.readable == text)
  }

  @Test(arguments: [(45, "45 s"), (185, "3 min"), (7300, "2 h"), (200_000, "2 d")] as [(Int, String)])
  func `say roughly how long ago something expired`(seconds: Int, text: String) {
    #expect(Duration.seconds(seconds).rough == text)
  }

  @Test func `mark what matters with colours`() throws {
    let answer = try resolution(["192.0.2.1"], .stale, .system, age: 9, left: -5)
    let text = TextTable(hosts: [], style: TextStyle(isOn: true)).block("a.example", answer, elapsed: .zero)
    #expect(text.contains("\u{1b}[1ma.example\u{1b}[0m"))
    #expect(text.contains("\u{1b}[33mstale (expired 5 s ago)\u{1b}[0m"))
  }
}
