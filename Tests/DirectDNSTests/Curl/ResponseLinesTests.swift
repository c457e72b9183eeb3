// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ResponseLinesTests {
  private func take(_ lines: [String], _ read: inout ResponseLines) -> [ResponseLines.Meaning] {
    lines.map { read.take(Array($0.utf8)) }
  }

  @Test func `a head ends with a blank line, and what comes behind it are trailers`() {
    var lines = ResponseLines()
    let meanings = take(["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\r\n", "B: 2\r\n", "\r\n"], &lines)
    #expect(meanings == [.more, .more, .head, .more, .more])
    #expect(lines.isHeadComplete && lines.head.status == 200 && !lines.isHTTP2)
    #expect(lines.takeHead().bytes == Array("HTTP/1.1 200 OK\r\nA: 1\r\n".utf8))
    #expect(lines.trailers == Array("B: 2\r\n".utf8))
  }

  @Test(arguments: ["\t\n", " \n", " \r\n", "\t\r\n", "  \n"])
  func `a blank at a line's beginning continues the line before, however little follows`(fold: String) {
    var lines = ResponseLines()
    let meanings = take(["HTTP/1.1 302 Found\r\n", "A: 1\r\n", fold, "Location: /\r\n", "\n"], &lines)
    #expect(meanings == [.more, .more, .more, .more, .head])
    #expect(lines.takeHead().bytes == Array("HTTP/1.1 302 Found\r\nA: 1\r\n\(fold)Location: /\r\n".utf8))
  }

  @Test func `an interim response is none, and switching protocols is the last one`() {
    var lines = ResponseLines()
    _ = take(["HTTP/2 103\r\n", "Link: x\r\n", "\r\n"], &lines)
    #expect(!lines.isHeadComplete)
    let meanings = take(["HTTP/2 204\r\n", "\r\n"], &lines)
    #expect(meanings == [.more, .head] && lines.isHTTP2 && lines.takeHead().bytes == Array("HTTP/2 204\r\n".utf8))
    var upgraded = ResponseLines()
    #expect(take(["HTTP/1.1 101 Switching\r\n", "\r\n"], &upgraded) == [.more, .head])
  }

  @Test(arguments: ["000", "099", "200", "999"])
  func `a number outside 100 to 199 is that of no interim response`(_ number: String) {
    var lines = ResponseLines()
    let meanings = take(["HTTP/2 \(number)\r\n", "\r\n"], &lines)
    #expect(meanings == [.more, .head] && lines.isHeadComplete)
  }

  @Test(arguments: ["Content-Length: x\r\n", "Transfer-Encoding: gzip\r\n", "Location: /\r\n"])
  func `nothing of an interim response counts for the one that follows`(_ field: String) {
    var lines = ResponseLines()
    _ = take(["HTTP/1.1 103 Early Hints\r\n", field, "\r\n", "HTTP/1.1 200 OK\r\n", "Content-Length: 7\r\n"], &lines)
    #expect(lines.head.hasSoundLength && !lines.head.hasRestorableField)
  }

  @Test(arguments: ["HTTP/1.1 404: Not Found\r\n", "HTTP/1.1: 100 Continue\r\n", "HTTP/2: see a page\r\n", "HTTP/\r\n"])
  func `a field that looks like a status line is none`(_ field: String) {
    var lines = ResponseLines()
    let interim = ["HTTP/1.1 103 Early Hints\r\n", field, "\r\n"]
    let last = ["HTTP/1.1 200 OK\r\n", "Set-Cookie: a=b\r\n", field]
    #expect(take(interim + last + ["\r\n"], &lines) == Array(repeating: .more, count: 6) + [.head])
    #expect(lines.head.status == 200 && lines.takeHead().bytes == Array(last.joined().utf8))
  }

  @Test func `a head's size is what came of it and of interim ones, without trailers`() {
    var lines = ResponseLines()
    let heads = ["HTTP/1.1 103 Early Hints\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "A:1\n", "\r\n"]
    _ = take(heads + ["B: 2\r\n", "\r\n"], &lines)
    #expect(lines.headSize == heads.map(\.utf8.count).reduce(0, +))
  }

  @Test func `more than is read is refused, in one line or in many`() {
    var lines = ResponseLines()
    let one = [UInt8](repeating: 0x61, count: 1_000)
    let count = (0..<300).prefix { _ in lines.take(one) == .more }.count
    #expect(count < 300 && lines.isExceeded && lines.isUsed)
    #expect(lines.take(one) == .tooMuch)
  }

  @Test func `what came of a request that is sent once more is no part of its response`() {
    var lines = ResponseLines()
    _ = take(["HTTP/1.1 200 OK\r\n", "A: 1\r\n"], &lines)
    lines.startOver()
    _ = take(["HTTP/1.1 500 No\r\n", "\r\n"], &lines)
    #expect(lines.takeHead().bytes == Array("HTTP/1.1 500 No\r\n".utf8))
  }
}

struct CurlFieldAllowanceTests {
  @Test func `each line counts 32 bytes more than it has`() {
    var allowance = CurlFieldAllowance(100)
    let answers = [18, 18, 0, 0].map { allowance.take($0) }
    #expect(answers == [true, true, false, false])
    #expect(allowance.isExceeded && allowance.isUsed)
  }

  @Test func `lines without a byte are bounded too`() {
    var allowance = CurlFieldAllowance(65_536)
    var count = 0
    while allowance.take(0) { count += 1 }
    #expect(count == 2048)
  }

  @Test func `what is exactly the limit is taken, and nothing behind what is more`() {
    var allowance = CurlFieldAllowance(64)
    #expect(!allowance.isUsed)
    let isWholeTaken = allowance.take(32)
    #expect(isWholeTaken && !allowance.isExceeded)
    let answers = [1, 0].map { allowance.take($0) }
    #expect(answers == [false, false])
  }
}
