// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Testing

@testable import DirectDNSProxy

struct BodyProgressTests {
  /// What a body in chunks becomes for a client of HTTP/1.0, part by part, and what is left behind it.
  private func unwrap(_ text: String) throws -> (parts: [String], rest: String, progress: BodyProgress) {
    var progress = BodyProgress(.chunked, isDecoded: true)
    var buffer = ByteBuffer(string: text)
    var parts: [String] = []
    _ = try progress.pass(&buffer) { parts.append(String(buffer: $0)) }
    return (parts, String(buffer: buffer), progress)
  }

  @Test(arguments: [3, 5, 1000])
  func `chunks that are taken off lose nothing, and many small ones go on together`(count: Int) throws {
    let (parts, rest, progress) = try unwrap(String(repeating: "1\r\nx\r\n", count: count) + "0\r\n\r\nGET")
    #expect(parts.joined() == String(repeating: "x", count: count) && progress.passed == count)
    #expect(parts.count == (count > 4 ? 1 : count))
    #expect(rest == "GET" && progress.isOver)
  }

  @Test(arguments: [
    (false, "2\r\nok\r\n2\r\nokzz", "2\r\nok\r\n2\r\nok"), (true, "2\r\nok\r\n2\r\nokzz", "okok"),
    (false, "2\r\nok\r\nzz", "2\r\nok\r\n"), (true, "2\r\nok\r\nzz", "ok"),
    (false, "2\r\nok\r\n0\r\nX: 1\n", "2\r\nok\r\n0\r\n"), (true, "2\r\nok\r\n0\r\nX: 1\n", "ok"),
  ])
  func `what comes before something that is wrong is passed on`(isDecoded: Bool, text: String, whole: String) {
    var progress = BodyProgress(.chunked, of: .response, isDecoded: isDecoded)
    var buffer = ByteBuffer(string: text)
    var passed = ""
    #expect(throws: MessageFault.self) { try progress.pass(&buffer) { passed += String(buffer: $0) } }
    #expect(passed == whole)
  }

  @Test func `a trailer that Connection names goes no further`() throws {
    let text = "POST http://a.test/ HTTP/1.1\r\nConnection: close, X-Hop\r\nProxy-Connection: X-Other\r\n\r\n"
    let head = try HeadParser.parse(Array(text.utf8), .request)
    var progress = BodyProgress(.chunked, below: head)
    var buffer = ByteBuffer(string: "0\r\nx-hop: 1\r\nX-Sum: 2\r\nX-OTHER: 3\r\n\r\n")
    var passed = ""
    let isOver = try progress.pass(&buffer) { passed += String(buffer: $0) }
    #expect(isOver && passed == "0\r\nX-Sum: 2\r\n\r\n")
  }

  @Test(arguments: [
    (BodyFraming.none, "", 0), (.length(3), "abc", 3), (.untilClose, "abc", 3),
    (.chunked, "1;x=y\r\na\r\n2\r\nbc\r\n0\r\nX: y\r\n\r\n", 3),
  ])
  func `the chunks' sizes are none of a body's bytes`(framing: BodyFraming, text: String, count: Int) throws {
    for isDecoded in [false, true] {
      var progress = BodyProgress(framing, isDecoded: isDecoded)
      for byte in text.utf8 {
        var buffer = ByteBuffer(bytes: [byte])
        _ = try progress.pass(&buffer) { _ in }
      }
      #expect(progress.dataCount == count)
    }
  }
}
