// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CurlResponseFieldsTests {
  private func fields(_ lines: String..., after before: CurlResponseFields = .init()) -> [String?] {
    var fields = before
    fields.begin()
    for line in lines { fields.take(Array((line + "\r\n").utf8).span) }
    return [fields.contentType, fields.age, fields.cacheControl, fields.retryAfter]
  }

  @Test func `the fields that matter to DNS are taken, and no others`() {
    #expect(
      fields("HTTP/2 200", "server: x", "content-length: 5", "content-type: application/dns-message", "age: 3", "")
        == ["application/dns-message", "3", nil, nil])
    #expect(
      fields("HTTP/1.1 429 No", "RETRY-AFTER:  7 ", "Cache-Control:\tmax-age=9, public", "Content-Type:text/html")
        == ["text/html", nil, "max-age=9, public", "7"])
    #expect(fields("HTTP/2 200", "ages: 3", "ag: 3", "cache-contro!: x", "content-typ:: x") == [nil, nil, nil, nil])
    #expect(fields("HTTP/2 200", "age:", "content-type: \u{e9}") == ["\u{e9}", "", nil, nil])
  }

  @Test(arguments: [
    ("HTTP/2 429", "x"), ("HTTP/1.1 429 Too Many Requests", "x"), ("HTTP/2 200", nil), ("HTTP/1.1 200 429", nil),
    ("HTTP/2", nil), ("HTTP/1.1  429", nil),
  ])
  func `the date is taken of 429 alone`(_ status: String, _ date: String?) {
    var fields = CurlResponseFields()
    for line in [status, "Date: x", "date: y"] { fields.take(Array((line + "\r\n").utf8).span) }
    #expect(fields.date == date)
  }

  @Test func `bytes that are no UTF-8 are replaced`() {
    var fields = CurlResponseFields()
    fields.take(Array("age: ".utf8 + [0xff, 0x0d, 0x0a]).span)
    #expect(fields.age == "\u{fffd}")
  }

  @Test func `of several of one name the first counts`() {
    #expect(fields("HTTP/2 200", "age: 1", "age: 2") == [nil, "1", nil, nil])
  }

  @Test func `several lines of Cache-Control are one list`() {
    #expect(
      fields("HTTP/2 200", "cache-control: public", "age: 1", "Cache-Control: max-age=20")
        == [nil, "1", "public, max-age=20", nil])
  }

  @Test func `interim responses and trailers do not count`() {
    #expect(
      fields("HTTP/1.1 103 Early", "age: 1", "", "HTTP/1.1 200 OK", "content-type: a/b", "", "age: 2")
        == ["a/b", nil, nil, nil])
  }

  @Test(arguments: [" \n", "\t\n", " \r\n"])
  func `a line that continues the one before does not end the head`(fold: String) {
    var fields = CurlResponseFields()
    for line in ["HTTP/1.1 200 OK\r\n", "x: y\r\n", fold, "age: 1\r\n", "\n", "content-type: a/b\r\n"] {
      fields.take(Array(line.utf8).span)
    }
    #expect(fields.age == "1" && fields.contentType == nil)
  }

  // libcurl asks for no more of a head than its status line, and an empty body is DNSPod's word for "no address".
  @Test(arguments: [
    ["HTTP/1.1 200 OK"], ["HTTP/1.1 200 OK", "content-length: 5"], ["HTTP/1.1 103 Early", "", "HTTP/1.1 200 OK"],
    ["HTTP/1.1 200 OK", "content-length: 5", "content-length: 4"],
  ])
  func `a response whose head has not ended is none`(_ lines: [String]) {
    var fields = CurlResponseFields()
    for line in lines { fields.take(Array((line + "\r\n").utf8).span) }
    #expect(fields.fault == .connectionLost("the response ended before its head"))
  }

  @Test(
    arguments: [
      (["content-length: 5"], nil), (["Content-Length: 5", "content-length: 05"], nil), ([], nil),
      (["content-length: 5", "content-length: 4"], "its"), (["content-length: 0", "content-length: 5"], "its"),
      (["content-length: 5, 5"], "its"), (["content-length:"], "its"), (["content-length: x"], "its"),
      (["transfer-encoding: identity"], nil), (["transfer-encoding: chunked", "content-length: 5"], nil),
      (["transfer-encoding: identity", "content-length: 5"], "a"),
      (["content-length: 5", "transfer-encoding:"], "a"),
      (["content-length: x", "transfer-encoding:"], "its"),
      (["transfer-encoding: chunked", "transfer-encoding: identity", "content-length: 5"], nil),
    ] as [([String], String?)])
  func `a response with two lengths, or one that is no number or stands beside no coding, is malformed`(
    _ lines: [String], _ beginning: String?
  ) {
    var fields = CurlResponseFields()
    for line in ["HTTP/1.1 200 OK"] + lines + ["", "content-length: 1"] {
      fields.take(Array((line + "\r\n").utf8).span)
    }
    if case .malformedResponse(let reason)? = fields.fault {
      #expect(beginning.map { reason.hasPrefix($0 + " Content-Length ") } == true, "\(reason)")
    } else {
      #expect(beginning == nil && fields.fault == nil)
    }
    fields.begin()
    for line in ["HTTP/1.1 200 OK", ""] { fields.take(Array((line + "\r\n").utf8).span) }
    #expect(fields.fault == nil)
  }

  @Test func `a response has nothing of the one before`() {
    var first = CurlResponseFields()
    for line in ["HTTP/2 200\r\n", "content-type: a/b\r\n", "age: 1\r\n", "\r\n"] { first.take(Array(line.utf8).span) }
    #expect(fields("HTTP/2 200", after: first) == [nil, nil, nil, nil])
    #expect(fields("HTTP/2 200", "content-type: a/b", after: first) == ["a/b", nil, nil, nil])
    #expect(fields("HTTP/2 200", "content-type: a/c", after: first) == ["a/c", nil, nil, nil])
  }
}
