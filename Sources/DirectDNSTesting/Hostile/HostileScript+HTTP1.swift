// SPDX-License-Identifier: Apache-2.0
/// HTTP/1.1 that is nearly right (RFC 9112).
extension HostileScript {
  /// Numbers at which counters overflow, and texts that are no numbers.
  private static let numbers = [
    "0", "1", "5", "05", "-1", "+5", " 5 ", "5 5", "5, 5", "5, 6", "0x5", "5.0", "", "٥", "255", "65535", "65536",
    "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999999999999999999",
  ]

  private static let statusLines = [
    "HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.0 200 OK", "HTTP/1.1 204 No Content",
    "HTTP/1.1 206 Partial",
    "HTTP/1.1 301 Moved", "HTTP/1.1 302 Found", "HTTP/1.1 303 See Other", "HTTP/1.1 304 Not Modified", "HTTP/1.1 307 T",
    "HTTP/1.1 401 Unauthorized", "HTTP/1.1 407 Proxy", "HTTP/1.1 417 Expectation", "HTTP/1.1 429 Slow",
    "HTTP/1.1 503 Later",
    "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 100 Continue", "HTTP/1.1 199 x", "HTTP/1.1 999 x", "HTTP/1.1 000 x",
    "HTTP/1.1 2000 x", "HTTP/1.1 20 x", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "http/1.1 200 OK", "HTTP/2 200 OK",
    "HTTP/3.0 200", "HTTP/0.9 200", "HTTP/1.10 200 OK", "ICY 200 OK", "220 smtp.example ESMTP", "", " HTTP/1.1 200 OK",
    "HTTP/1.1 200 \u{1b}[31m\u{7}", "<html>",
  ]

  private static let fields: [(name: String, values: [String])] = [
    ("Content-Length", numbers), ("Content-Length", ["5"]), ("Content-Length", ["4", "6", "50000"]),
    (
      "Transfer-Encoding",
      ["chunked", "Chunked", "gzip", "gzip, chunked", "chunked, gzip", "identity", "x", "", "chunked;q=1"]
    ),
    ("Content-Encoding", ["gzip", "deflate", "br", "gzip, gzip, gzip, gzip, gzip, gzip", "x"]),
    ("Connection", ["close", "keep-alive", "upgrade", "close, keep-alive", "x, content-length", ""]),
    ("Keep-Alive", ["timeout=0", "timeout=99999999999999999999", "max=-1"]),
    ("Upgrade", ["websocket", "h2c", "HTTP/2.0"]),
    (
      "Location",
      [
        "/", "", " ", "//", "http://127.0.0.1:1/", "http://[::1/", "http://shop.test:99999/", "ftp://x/", "\u{0}",
        "http://169.254.169.254/",
      ]
    ),
    ("Refresh", ["0;url=/", "99999999999;url='", ";"]), ("Retry-After", numbers + ["Sun, 06 Nov 1994 08:49:37 GMT"]),
    ("Age", numbers),
    ("Cache-Control", ["max-age=1", "no-store", "max-age=99999999999999999999", "max-age=\"5", ",,,,"]),
    (
      "Set-Cookie",
      ["a=b", "a=b; Max-Age=99999999999999999999", "a=b; Domain=test", "=", ";", "a=b; Expires=x", "__Host-a=b"]
    ),
    ("Content-Range", ["bytes 0-4/5", "bytes 5-4/3", "bytes 0-9223372036854775807/*"]),
    ("Trailer", ["X-A", "Content-Length"]),
    ("WWW-Authenticate", ["Basic", "Digest realm=\"", "Negotiate"]),
    ("Alt-Svc", ["h3=\":443\"; ma=99999999999", "clear"]),
    ("Strict-Transport-Security", ["max-age=99999999999999999999; includeSubDomains"]), ("Date", ["x"]),
    ("X-Folded", ["a\r\n b"]),
    ("Bad Name", ["x"]), ("", ["x"]), ("X\u{0}Y", ["x"]), ("X-NUL", ["a\u{0}b"]), ("X-CR", ["a\rb"]),
    (" X-Lead", ["x"]),
  ]

  static func http1(_ content: Content, _ dice: inout Dice) -> [Step] {
    var steps: [Step] = []
    if dice.chance(5) {
      let interim =
        "HTTP/1.1 \(dice.one(of: ["100 Continue", "102 x", "103 Early Hints", "199 x"]))\r\nLink: </x>\r\n\r\n"
      if dice.chance(30) { return [.endless(Array(interim.utf8))] }
      steps.append(.send(Array(String(repeating: interim, count: dice.one(of: [1, 2, 40])).utf8)))
    }
    var head = (dice.chance(3) ? dice.one(of: statusLines) : statusLines[0]) + ending(&dice)
    var isChunked = false
    var said = Set<String>()
    // An answer with a single fault gets further than one that is wrong everywhere.
    if !dice.chance(8) { head += "Content-Type: \(content.type)" + ending(&dice) }
    if dice.chance(2) {
      isChunked = dice.chance(2)
      let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(content.bytes.count)"
      head += framing + ending(&dice)
    }
    for _ in 0..<dice.one(of: [0, 0, 1, 1, 2, 5]) {
      let field = dice.one(of: fields)
      let line = "\(field.name):\(dice.chance(4) ? "" : " ")\(dice.one(of: field.values))"
      let count = said.insert(field.name).inserted && dice.chance(4) ? 2 : 1
      head += String(repeating: line + ending(&dice), count: count)
    }
    if dice.chance(40) {
      let long = dice.one(of: ["X-Long: " + String(repeating: "x", count: 4096) + "\r\n", "X: y\r\n", "x"])
      return steps + [.send(Array(head.utf8)), .endless(Array(String(repeating: long, count: 16).utf8))]
    }
    head += ending(&dice)
    var bytes = Array(head.utf8)
    if isChunked || dice.chance(12) {
      if dice.chance(40) { return steps + [.send(bytes), .endless(chunk(content.bytes, &dice))] }
      bytes += chunks(content.bytes, &dice)
    } else {
      if dice.chance(40) { return steps + [.send(bytes), .endless(Array(repeating: 0x78, count: 16_384))] }
      bytes += body(content.bytes, &dice)
    }
    // What follows does not belong to any request.
    if dice.chance(8) { bytes += bytes.prefix(dice.number(below: 300)) }
    return steps + staged(bytes, &dice)
  }

  private static func ending(_ dice: inout Dice) -> String {
    dice.chance(40) ? dice.one(of: ["\n", "\r", "\r\r\n", "\n\r\n", ""]) : "\r\n"
  }

  /// The body, possibly changed.
  private static func body(_ bytes: [UInt8], _ dice: inout Dice) -> [UInt8] {
    switch dice.number(below: 6) {
    case 0: return bytes + dice.bytes(upTo: 40)
    case 1: return dice.bytes(upTo: 2000)
    case 2:
      var bytes = bytes
      for _ in 0..<3 {
        if let place = bytes.indices.randomElement(using: &dice) { bytes[place] = UInt8(dice.number(below: 256)) }
      }
      return bytes
    default: return bytes
    }
  }

  private static let sizes = [
    "0", "00", "5", "5 ", " 5", "0x5", "-5", "5;x=y", "5;x=\"", "5;" + String(repeating: "x", count: 5000), "g", "",
    "7fffffff",
    "80000000", "ffffffff", "100000000", "7fffffffffffffff", "8000000000000000", "ffffffffffffffff",
    "10000000000000000",
    String(repeating: "0", count: 100) + "5",
  ]

  private static func chunk(_ bytes: [UInt8], _ dice: inout Dice) -> [UInt8] {
    let size = dice.chance(4) ? dice.one(of: sizes) : String(bytes.count, radix: 16)
    return Array((size + ending(&dice)).utf8) + bytes + Array(ending(&dice).utf8)
  }

  private static func chunks(_ bytes: [UInt8], _ dice: inout Dice) -> [UInt8] {
    var all: [UInt8] = []
    let half = bytes.count / 2
    for part in dice.chance(2) ? [bytes[..<half], bytes[half...]] : [bytes[...]] where !part.isEmpty {
      all += chunk(Array(part), &dice)
    }
    let trailers = dice.one(of: [
      "", "", "", "X-A: b\r\n", "Content-Length: 5\r\n", "no colon\r\n", "X: \u{0}\r\n",
      String(repeating: "X-A: b\r\n", count: 5000),
      "X: " + String(repeating: "y", count: 70_000) + "\r\n", "Set-Cookie: a=b\r\n",
    ])
    return all + Array(("0" + ending(&dice) + trailers + ending(&dice)).utf8)
  }
}
