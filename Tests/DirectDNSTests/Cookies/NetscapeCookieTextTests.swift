// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct NetscapeCookieTextTests {
  private func decode(_ text: String) -> (cookies: [Cookie], problems: [NetscapeCookieFile.Problem]) {
    NetscapeCookieText.decode(Array(text.utf8), now: Sample.now)
  }

  private func lines(_ cookies: Cookie?...) -> [Substring] {
    NetscapeCookieText.encode(cookies.compactMap(\.self)).text.split(separator: "\n").filter {
      !$0.hasPrefix("# ")
    }
  }

  @Test func `a line is a cookie`() {
    let (cookies, problems) = decode(".a.example\tTRUE\t/x\tTRUE\t1700000060\tname\tvalue")
    #expect(problems == [])
    #expect(cookies.first == Sample.cookie("name=value; domain=a.example; path=/x; secure; max-age=60"))
    #expect(cookies.count == 1)
  }

  @Test(arguments: [
    ("a.example", "FALSE", true), (".a.example", "TRUE", false), ("a.example", "TRUE", false),
    (".a.example", "FALSE", true), ("A.Example", "false", true), ("192.0.2.1", "TRUE", true), ("::1", "FALSE", true),
    ("[::1]", "FALSE", true), ("bücher.example", "FALSE", true),
  ])
  func `a cookie is its host's alone where the flag says so, as curl and wget read it, whatever dot is there`(
    _ domain: String, _ flag: String, _ isHostOnly: Bool
  ) {
    #expect(decode("\(domain)\t\(flag)\t/\tFALSE\t0\ta\tb").cookies.map(\.isHostOnly) == [isHostOnly])
  }

  @Test(
    arguments: [
      ("0", nil), ("1700000060", 1_700_000_060), ("99999999999", 1_734_560_000), ("1", 1), ("-1", -1),
      ("9223372036854775807", 1_734_560_000), ("99999999999999999999999", 1_734_560_000),
    ] as [(String, Int64?)])
  func `expiry is 0 for a session, and cut at 400 days`(_ text: String, _ expires: Int64?) {
    let cookies = decode("a.example\tFALSE\t/\tFALSE\t\(text)\ta\tb").cookies
    #expect(cookies.map(\.expires) == [expires.map { CookieTime(secondsSince1970: $0) }])
  }

  @Test func `comments and empty lines are passed over, line ends are of either kind`() {
    let text = """
      # Netscape HTTP Cookie File\r
      \r
      #a.example\tFALSE\t/\tFALSE\t0\tno\tno\r
        \t
      a.example\tFALSE\t/\tFALSE\t0\ta\tb\r
      #HttpOnly_a.example\tFALSE\t/\tFALSE\t0\tc\t
      a.example\tFALSE\t/\tFALSE\t0\td
      """
    let (cookies, problems) = decode(text)
    #expect(problems == [])
    #expect(cookies.map(\.name) == ["a", "c", "d"])
    #expect(cookies.map(\.value) == ["b", "", ""])
    #expect(cookies.map(\.isHTTPOnly) == [false, true, false])
  }

  @Test(arguments: [
    ("hello", "1 field "), ("a.example FALSE / FALSE 0 a b", "1 field "),
    ("a.example\tFALSE\t/\tFALSE\t0\ta\tb\tc", "8 fields"), ("\tFALSE\t/\tFALSE\t0\ta\tb", "field 1"),
    ("a b\tFALSE\t/\tFALSE\t0\ta\tb", "field 1"), ("a..b\tFALSE\t/\tFALSE\t0\ta\tb", "field 1"),
    ("a.example\tyes\t/\tFALSE\t0\ta\tb", "field 2"), ("a.example\tFALSE\t/\t1\t0\ta\tb", "field 4"),
    ("a.example\tFALSE\t/\tFALSE\tsoon\ta\tb", "field 5"), ("a.example\tFALSE\t/\tFALSE\t.5\ta\tb", "field 5"),
    ("a.example\tFALSE\t/\tFALSE\t1.x\ta\tb", "field 5"), ("a.example\tFALSE\t/\tFALSE\t1.\ta\tb", "field 5"),
    ("a.example\tFALSE\t/\tFALSE\t0\ta=\tb", "refused"), ("a.example\tFALSE\t/\tFALSE\t0\t__Host-a\tb", "prefix"),
    ("a.example\tFALSE\t/\tFALSE\t0\ta\tsecret\u{1}", "control"),
  ])
  func `a line that is no cookie is skipped and said by number, without its value`(_ line: String, _ reason: String) {
    let (cookies, problems) = decode("# x\n\(line)\na.example\tFALSE\t/\tFALSE\t0\ta\tb\n")
    #expect(cookies.count == 1)
    #expect(problems.map(\.line) == [2])
    #expect(problems.first?.description.contains(reason) == true)
    #expect(problems.first?.description.contains("secret") == false)
  }

  /// curl writes the path as the server has sent it, and a suffix's own cookie with a dot.
  @Test(arguments: [
    ("a.example\tFALSE\t\"/x\"", "/x", true), ("a.example\tFALSE\t", "/", true), ("a.example\tFALSE\tx", "/", true),
    (".localhost\tTRUE\t/", "/", true), (".com\tTRUE\t/", "/", true), (".a.example\tTRUE\t/x", "/x", false),
  ])
  func `what curl has written is read as curl reads it`(_ fields: String, _ path: String, _ isHostOnly: Bool) {
    let (cookies, problems) = decode("\(fields)\tFALSE\t0\ta\tb")
    #expect(problems == [])
    #expect(cookies.map(\.path) == [path] && cookies.map(\.isHostOnly) == [isHostOnly])
  }

  @Test func `an expiry with a fraction is the second before, as in curl`() {
    let (cookies, problems) = decode(
      "a.example\tFALSE\t/\tFALSE\t1710000000.123\ta\tb\na.example\tFALSE\t/\tFALSE\t0.0\tc\td\n")
    #expect(problems == [])
    #expect(cookies.map { $0.expires?.secondsSince1970 } == [1_710_000_000, nil])
  }

  @Test func `a line that is not UTF-8 is skipped: its value would be another`() {
    let line = Array("a.example\tFALSE\t/\tFALSE\t0\ta\t".utf8) + [0xE9]
    let (cookies, problems) = NetscapeCookieText.decode(line, now: Sample.now)
    #expect(cookies == [])
    #expect(problems.map(\.reason) == ["is not UTF-8"])
  }

  @Test func `a cookie is a line`() {
    let written = lines(
      Sample.cookie("a=1"), Sample.cookie("b=; domain=a.example; path=/x; secure; httponly; max-age=60"),
      Sample.cookie("c=é", from: "http://[2001:db8::1]/"))
    let expected: [Substring] = [
      "www.a.example\tFALSE\t/\tFALSE\t0\ta\t1", "#HttpOnly_.a.example\tTRUE\t/x\tTRUE\t1700000060\tb\t",
      "2001:db8::1\tFALSE\t/\tFALSE\t0\tc\té",
    ]
    #expect(written == expected)
  }

  @Test func `the first line is the one that other programs look for`() {
    #expect(NetscapeCookieText.encode([]).text.hasPrefix("# Netscape HTTP Cookie File\n"))
  }

  @Test func `a cookie that is held back is a comment to others, and held back when it is read again`() {
    var cookie = Sample.cookie("a=1; httponly", from: "http://192.0.2.1/")
    cookie?.isHeld = true
    #expect(lines(cookie) == ["#Held_#HttpOnly_192.0.2.1\tFALSE\t/\tFALSE\t0\ta\t1"])
    #expect(decode(lines(cookie).joined()).cookies.first == cookie)
  }

  @Test func `a path that ends in a quotation mark has one more, which readers take off`() {
    let cookie = Sample.cookie("a=1; path=/y\"", from: "http://192.0.2.1/")
    #expect(lines(cookie) == ["192.0.2.1\tFALSE\t/y\"\"\tFALSE\t0\ta\t1"])
    #expect(decode(lines(cookie).joined()).cookies.first == cookie)
  }

  @Test func `what the format cannot say is left out and returned`() {
    let cookies = ["a", "b=1\t2", "c\t=1", "d=1; path=/\tx", "e=1"].compactMap { Sample.cookie($0) }
    #expect(cookies.count == 5)
    let (text, leftOut) = NetscapeCookieText.encode(cookies)
    #expect(leftOut.map(\.name) == ["", "b", "d"])
    #expect(decode(text).cookies.map(\.name) == ["c", "e"])
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `what is written is read again, but for SameSite`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let urls = [
      "https://www.a.example/", "http://192.0.2.1/x/y", "https://[::1]/", "http://localhost/", "https://b.co.uk/",
    ]
    let attributes = [
      "; secure", "; httponly", "; path=/z", "; path=/z\"", "; max-age=60", "; domain=a.example", "; expires=x",
    ]
    var written = 0
    for _ in 0..<100 {
      let field =
        "n" + random.text(of: ["a", "é", "#", "\"", " x"], upTo: 3) + "="
        + random.text(of: ["a", "=", "%", "TRUE", "é", " x"], upTo: 3) + random.text(of: attributes, upTo: 3)
      guard let cookie = Sample.cookie(field, from: urls.randomElement(using: &random) ?? "") else { continue }
      written += 1
      let (text, leftOut) = NetscapeCookieText.encode([cookie])
      #expect(leftOut == [])
      #expect(decode(text).cookies == [cookie])
      #expect(decode(text).problems == [])
    }
    #expect(written > 30, "most of them are cookies")
  }
}
