// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

struct FittedTableTests {
  private var table: FittedTable {
    var table = FittedTable(columns: [
      .init(title: "NAME", minimum: 6), .init(title: "N", isNumeric: true, rank: 1),
      .init(title: "ERROR", minimum: 5, rank: 2),
    ])
    table.rows = [
      [.init("www.example.com"), .init("7"), .init("it is out of order", paint: { "<\($0)>" })],
      [.init("b"), .init("12"), .init("")],
    ]
    return table
  }

  @Test(arguments: [
    (80, ["NAME              N  ERROR", "www.example.com   7  <it is out of order>", "b                12"]),
    (30, ["NAME              N  ERROR", "www.example.com   7  <it is ou…>", "b                12"]),
    (26, ["NAME              N  ERROR", "www.example.com   7  <it i…>", "b                12"]),
    (20, ["NAME        N  ERROR", "www.exam…   7  <it i…>", "b          12"]),
    (14, ["NAME         N", "www.examp…   7", "b           12"]),
    (8, ["NAME", "www.exa…", "b"]), (3, ["NA…", "ww…", "b"]), (1, ["…", "…", "b"]),
  ])
  func `a narrow window cuts, then leaves out columns, from the right`(_ width: Int, _ lines: [String]) {
    let painted = table.lines(width: width)
    #expect(painted == lines)
    for line in painted { #expect(line.filter { $0 != "<" && $0 != ">" }.count <= width) }
  }

  @Test(arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 1, "…"), ("abcd", 0, ""), ("", 0, "")])
  func `what is cut ends with a mark`(_ text: String, _ width: Int, _ cut: String) {
    #expect(text.cut(to: width) == cut)
  }
}
