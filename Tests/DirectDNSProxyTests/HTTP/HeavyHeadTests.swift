// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

/// What a stranger may send costs by its bytes: nothing goes through all that has come once more for each of its parts.
@Suite("Messages of as many parts as fit", .timeLimit(.minutes(1)))
struct HeavyHeadTests {
  /// The least that a body takes of some runs.
  private func time(_ body: () throws -> Void) rethrows -> Duration {
    var least = Duration.seconds(3600)
    for _ in 0..<3 { least = min(least, try ContinuousClock().measure { try body() }) }
    return least
  }

  @Test func `trailers of many lines take about as long as those of few`() throws {
    func read(_ line: String) throws {
      let lines = String(repeating: line + "\r\n", count: 16_000 / (line.utf8.count + 2))
      var body = ChunkedBody()
      var pieces: [ChunkedBody.Piece] = []
      let bytes = Array("0\r\n\(lines)\r\n".utf8)
      #expect(try body.read(bytes.span, into: &pieces) == bytes.count && body.isOver)
    }
    let few = try time { try read("X: " + String(repeating: "a", count: 500)) }
    #expect(try time { try read("X: a") } < few * 20)
  }

  @Test func `many names in Connection take about as long as the head takes to be read`() throws {
    let letters = "abcdefghijklmnopqrstuvwxyz".map(String.init)
    let names = letters.flatMap { first in letters.map { first + $0 } }
    let fields = names.prefix(480).map { "\($0): 1\r\n" }.joined()
    let text =
      "HTTP/1.1 200 OK\r\nConnection: " + String(repeating: "zz,", count: 18_000) + "\(names[7])\r\n\(fields)\r\n"
    let head = try HeadParser.parse(Array(text.utf8), .response)
    let reading = try time { _ = try HeadParser.parse(Array(text.utf8), .response) }
    var lines: [Substring] = []
    let writing = time {
      lines = String(decoding: ForwardedHead.response(head), as: UTF8.self).split(separator: "\r\n")
    }
    #expect(lines.count == 480 && !lines.contains { $0.hasPrefix("\(names[7]):") })
    #expect(writing < reading * 50)
  }

  @Test(arguments: [1, 40]) func `what Connection names goes no further, be it little or much`(count: Int) throws {
    let others = (0..<count).map { "x-\($0)" }.joined(separator: ", ")
    let head = try HeadParser.parse(
      Array("HTTP/1.1 200 OK\r\nConnection: \(others), X-ONE\r\nx-One: 1\r\nX-On: 2\r\nX-0: 3\r\n\r\n".utf8), .response)
    #expect(String(decoding: ForwardedHead.response(head), as: UTF8.self) == "HTTP/1.1 200 OK\r\nX-On: 2\r\n\r\n")
  }
}
