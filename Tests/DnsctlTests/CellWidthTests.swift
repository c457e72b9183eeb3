// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct CellWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("ü.example", 9), ("例子.测试", 9), ("ｗｗｗ", 6), ("한글", 4), ("ㄱ", 2),
    ("\u{1112}\u{1161}\u{11ab}", 2), ("ｶﾞ", 2), ("か\u{3099}", 2), ("👍", 2), ("👍🏽", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2),
    ("❤", 1),
    ("1️⃣", 2), ("ไทย", 3), ("ที่", 1), ("हिन्दी", 5), ("עברית", 5), ("عربي", 4), ("…", 1), ("→", 1), ("\u{200b}", 0),
    ("\u{20000}", 2),
    ("ΑΒΓ", 3), ("кириллица", 9), ("—", 1), ("㊙", 2), ("〇", 2), ("｡", 1), ("。", 2),
  ])
  func `a text takes the columns that a terminal gives it`(_ text: String, _ columns: Int) {
    #expect(text.columns == columns)
  }

  @Test(arguments: [
    ("例子测试", 8, "例子测试"), ("例子测试", 7, "例子测…"), ("例子测试", 6, "例子…"), ("例子测试", 2, "…"), ("例子", 1, "…"), ("例", 0, ""),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("a例b", 3, "a…"),
  ])
  func `what is cut has room, and no half characters`(_ text: String, _ width: Int, _ cut: String) {
    #expect(text.cut(to: width) == cut)
    #expect(text.cut(to: width).columns <= width)
  }

  @Test func `columns stand below one another`() {
    var table = ColumnTable()
    for name in ["例子.测试", "a.example", "e\u{301}", "👍.example"] { table.add([TableCell(name), TableCell("|")]) }
    let places = table.text.split(separator: "\n").map { String($0.prefix { $0 != "|" }).columns }
    #expect(Set(places) == [12])
    var fitted = FittedTable(columns: [.init(title: "NAME", minimum: 4), .init(title: "N", isNumeric: true)])
    fitted.rows = [[TableCell("例子.测试"), TableCell("1")], [TableCell("a"), TableCell("23")]]
    #expect(fitted.lines(width: 40) == ["NAME        N", "例子.测试   1", "a          23"])
    #expect(fitted.lines(width: 10) == ["NAME     N", "例子.…   1", "a       23"])
  }

  @Test func `a row ends with its last text`() {
    let marked = { @Sendable (text: String) in "<\(text)>" }
    var table = ColumnTable()
    table.add([TableCell("a"), TableCell(""), TableCell("b", paint: marked), TableCell("")])
    table.add([TableCell("cd", paint: marked), TableCell(""), TableCell("", paint: marked), TableCell("")])
    table.add([TableCell(""), TableCell(""), TableCell(""), TableCell("e")])
    #expect(table.text == "a     <b>\n<cd>\n         e\n")
  }
}

@Suite struct `Names of other scripts` {
  private static let fixture = CommandFixture(
    zone: [
      "xn--fsqu00a.xn--0zwm56d": .missing,
      "xn--bcher-kva.example": .addresses(["192.0.2.1"], alias: "xn--bcher-kva.alias.example"),
    ])

  private func run(_ arguments: [String]) async -> CommandFixture.Outcome {
    var fixture = CommandFixture()
    fixture.zone = Self.fixture.zone
    return await fixture.run(arguments + ["--provider", "google", "--no-system"])
  }

  private static let both = "例子.测试 (xn--fsqu00a.xn--0zwm56d)"

  @Test func `stand in messages as they are written`() async {
    let text = await run(["resolve", "例子.测试"])
    #expect(text.status == 1 && text.errors.hasPrefix("dnsctl: \(Self.both) does not exist"), "\(text)")
    let json = await run(["resolve", "--format", "json", "例子.测试"])
    #expect(
      json.output.hasPrefix(#"{"host":"例子.测试","#) && json.output.contains(#""message":"\#(Self.both) does not exist"#),
      "\(json)")
    let fetched = await run(["fetch", "http://例子.测试/"])
    #expect(fetched.errors.hasPrefix("dnsctl: \(Self.both) does not exist"), "\(fetched)")
    #expect(fetched.errors.hasSuffix("Check its spelling.\n"), "\(fetched)")
    let trace = await run(["resolve", "--trace", "例子.测试"])
    #expect(trace.errors.contains("google  \(Self.both) A  "), "\(trace)")
  }

  @Test func `stand in answers as they are written`() async {
    let found = await run(["resolve", "--family", "ipv4", "Bücher.example"])
    #expect(found.output.hasPrefix("Bücher.example  192.0.2.1 "), "\(found)")
    #expect(found.output.contains("alias of bücher.alias.example (xn--bcher-kva.alias.example)"))
  }

  @Test func `stand in what is watched as they are written`() async {
    let text = await run(["watch", "--count", "1", "例子.测试"])
    #expect(text.output.contains("\n例子.测试  "), "\(text)")
    let json = await run(["watch", "--count", "1", "--format", "json", "例子.测试", "XN--FSQU00A.xn--0zwm56d"])
    #expect(json.output.contains(#""host":"例子.测试""#) && json.output.contains(#""lastError":"\#(Self.both)"#), "\(json)")
    // The same name in another spelling is watched once.
    #expect(json.output.components(separatedBy: #""host""#).count == 2)
  }

  @Test func `stand in reports as they are written`() async {
    let text = await run(["warmup", "例子.测试", "bücher.example"])
    #expect(text.errors.contains("dnsctl: \(Self.both) does not exist"), "\(text)")
    #expect(text.output.contains("bücher.example") && !text.output.contains("xn--"), "\(text)")
    let json = await run(["warmup", "--format", "json", "例子.测试"])
    #expect(json.output.contains(#""message":"\#(Self.both) does not exist"#), "\(json)")
  }
}
