// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct FieldReaderTests {
  @Test(arguments: ["Content-Type", "content-type", "CONTENT-TYPE", "X-Own", "set-cookie", "Set-Cookie"])
  func `a name keeps its spelling and means the same`(_ name: String) throws {
    let fields = FieldReader.fields(Array("\(name): 1\r\n".utf8))
    #expect(fields.first?.name.rawName == name && fields.first?.name == HTTPField.Name(name))
  }

  @Test func `reading begins where it is told to`() {
    let fields = FieldReader.fields(Array("A: 1\r\nB: 2\r\n".utf8), from: 6)
    #expect(fields.map { "\($0.name)=\($0.value)" } == ["B=2"])
  }

  @Test func `a last line may have no end`() {
    #expect(FieldReader.fields(Array("A: 1\r\nB: 2".utf8)).map(\.value) == ["1", "2"])
  }

  @Test(arguments: [
    ("A: 1\r\n 2\r\n", ["1 2"]), ("A: 1\r\nB C: 2\r\n 3\r\n", ["1"]),
    ("A: 1\r\n: 2\r\n\t3\r\n 4\r\nB: 5\r\n 6", ["1", "5 6"]),
    ("A: 1\r\nno field\r\n 2\r\n", ["1"]), (" 1\r\nA: 2\r\n", ["2"]),
  ])
  func `a folded line continues the line before, also one that is left out`(_ lines: String, _ values: [String]) {
    #expect(FieldReader.fields(Array(lines.utf8)).map(\.value) == values)
  }
}
