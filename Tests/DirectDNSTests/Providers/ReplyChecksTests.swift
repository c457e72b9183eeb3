// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct ReplyChecksTests {
  private func status(_ code: Int, _ fields: HTTPFields = [:]) -> ProviderFailure? {
    do throws(ProviderFailure) {
      try HTTPReply(status: .init(code: code), fields: fields).checkStatus()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [200, 201, 203, 206, 299])
  func `2xx carries an answer`(_ code: Int) { #expect(status(code) == nil) }

  @Test(arguments: [
    0, 99, 100, 199, 300, 301, 307, 400, 401, 403, 404, 405, 408, 414, 415, 500, 502, 503, 504, 599, 999,
  ])
  func `any other status is a failure of the endpoint, and named`(_ code: Int) {
    #expect(status(code)?.kind == .transport)
    #expect(status(code)?.reason.contains("HTTP \(code)") == true)
  }

  @Test func `a refusal comes with what may be wrong with the request, where something may be`() {
    #expect(throws: ProviderFailure.malformed("HTTP 403: refused")) { try HTTPReply("", status: 403).checkStatus() }
    #expect(throws: ProviderFailure.malformed("HTTP 401: refused; check the token")) {
      try HTTPReply("", status: 401).checkStatus(ifRefused: "check the token")
    }
  }

  @Test(
    arguments: [
      (429, nil, nil), (429, "7", 7), (429, " 7\t", 7), (429, "Wed, 21 Oct 2015 07:28:00 GMT", nil),
      (429, "-1", nil), (429, "+5", nil), (429, "", nil),
      (429, "99999999999999999999", 3600), (429, "4294967295", 3600), (429, "86400", 3600), (429, "0", 0),
    ] as [(Int, String?, Int64?)])
  func `429 asks for fewer requests`(
    _ code: Int, _ after: String?, _ seconds: Int64?
  ) {
    var fields = HTTPFields()
    fields[.retryAfter] = after
    #expect(status(code, fields)?.kind == .rateLimited(retryAfter: seconds.map { .seconds($0) }))
  }

  @Test(arguments: [
    ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:27:30 GMT", 30),
    ("Wednesday, 21-Oct-15 07:28:00 GMT", "Wed, 21 Oct 2015 07:27:30 GMT", 30),
    ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:29:00 GMT", 0),
    ("Fri, 31 Dec 9999 23:59:59 GMT", "Wed, 21 Oct 2015 07:29:00 GMT", 3600),
    ("Wed, 21 Oct 2015 07:28:00 GMT", "now", nil), ("later", "Wed, 21 Oct 2015 07:28:00 GMT", nil),
  ])
  func `a date counts from the reply's own`(_ after: String, _ date: String, _ seconds: Int64?) {
    let kind = status(429, [.retryAfter: after, .date: date])?.kind
    #expect(kind == .rateLimited(retryAfter: seconds.map { .seconds($0) }))
  }

  @Test func `503 counts as any other failure of the server, whatever it asks for`() {
    #expect(status(503, [.retryAfter: "3600"])?.kind == .transport)
  }

  @Test func `HTML is called a captive portal`() {
    let reply = HTTPReply("<html>", "text/HTML; charset=utf-8")
    let failure = #expect(throws: ProviderFailure.self) {
      try reply.checkContentType { $0 == "application/json" }
    }
    #expect(failure?.reason.contains("captive portal") == true && failure?.kind == .transport)
    let other = #expect(throws: ProviderFailure.self) {
      try HTTPReply("", nil).checkContentType { _ in false }
    }
    #expect(other?.reason.contains("missing") == true)
  }

  @Test(
    arguments: [
      (nil, nil, 100, 100), ("0", nil, 100, 100), ("40, 50", nil, 100, 60), ("50 ,x", nil, 100, 50),
      (",50", nil, 100, 100), ("40", nil, 100, 60), ("100", nil, 100, 0),
      ("4000000000", nil, 100, 0),
      (nil, "max-age=30", 100, 30), ("10", "max-age=30", 100, 20), ("40", "max-age=30", 100, 0),
      (nil, "max-age=300", 100, 100),
      (nil, "max-age=0", 100, 0), (nil, "public, MAX-AGE = \"30\" , x", 100, 30),
      (nil, "s-maxage=3", 100, 100),
      (nil, "private=\"a, max-age=1\", max-age=30", 100, 30), (nil, "private=\"max-age=1\"", 100, 100),
      (nil, #"x="a\", max-age=1", max-age=30"#, 100, 30), (nil, #"x="\\", max-age=30"#, 100, 30),
      (nil, "x=\"a, max-age=1", 100, 100), (nil, "x=\"\\", 100, 100), (nil, "\"\",max-age=30", 100, 30),
      (nil, "max-age", 100, 100), (nil, "max-age=", 100, 100), (nil, "max-age=-1", 100, 100),
      (nil, "max-age=x", 100, 100),
      ("99999999999", nil, 100, 0), ("99999999999999999999999", nil, 100, 0),
      (nil, "max-age=99999999999999", 100, 100),
      ("-1", nil, 100, 100), ("", "", 100, 100),
    ] as [(String?, String?, UInt32, UInt32)])
  func `what is left of a lifetime is the smaller of TTL and max-age, less the age`(
    _ age: String?, _ control: String?, _ ttl: UInt32, _ expected: UInt32
  ) {
    #expect(HTTPFreshness(age: age, cacheControl: control).lifetime(ttl) == expected)
  }

  @Test(
    arguments: [
      ("40", nil, 100, 60), ("100", nil, 100, 1), ("4000000000", nil, 100, 1), (nil, "max-age=0", 100, 1),
      (nil, nil, 1, 1), ("1", nil, 1, 1), (nil, nil, 0, 0), ("1", nil, 0, 0), (nil, "max-age=30", 0, 0),
    ] as [(String?, String?, UInt32, UInt32)])
  func `addresses of which nothing is left have a second, and those of TTL 0 have none`(
    _ age: String?, _ control: String?, _ ttl: UInt32, _ expected: UInt32
  ) {
    #expect(HTTPFreshness(age: age, cacheControl: control).ttl(ttl) == expected)
  }
}
