// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What an endpoint says to a request: a pure function of the request's head.
struct ScrapeReply: Sendable, Hashable {
  /// The largest head that is read, in octets.
  static let headLimit = 8192

  var status: Int
  /// Whether the metrics are the body; else it is the reason.
  var hasMetrics = false
  var isHead = false
  var reason = ""

  /// What has come so far.
  ///
  /// - Parameters:
  ///   - bytes: from the connection's beginning.
  ///   - allowsAnyHost: whether a `Host` that is not an address and not `localhost` is served. A page in a browser can make
  ///     a name of its own lead to a loopback address (DNS rebinding), and would read the metrics.
  ///   - readiness: what `/ready` says.
  /// - Returns: the reply; nil while the head is incomplete.
  static func to(
    _ bytes: [UInt8], allowsAnyHost: Bool, readiness: () -> Readiness = { .ready }
  ) -> ScrapeReply? {
    // One empty line may stand in front of a request (RFC 9112 §2.2).
    let emptyLine: [UInt8] = [0x0d, 0x0a]
    let bytes = bytes.starts(with: emptyLine) ? bytes.dropFirst(2) : bytes[...]
    guard let end = headEnd(bytes) else {
      guard bytes.count <= headLimit else { return refusal(431, "The request's head is larger than 8 KiB.") }
      // What cannot become a request need not be waited for.
      let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x0d || $0 == 0x0a || $0 == 0x09 }
      return isText && !bytes.starts(with: emptyLine) ? nil : refusal(400, "This is not an HTTP request.")
    }
    guard end - bytes.startIndex <= headLimit else {
      return refusal(431, "The request's head is larger than 8 KiB.")
    }
    guard let request = ScrapeRequest(bytes[..<end]) else { return refusal(400, "This is not an HTTP request.") }
    var reply = answer(request, allowsAnyHost, readiness)
    reply.isHead = request.method == "HEAD"
    return reply
  }

  private static func answer(
    _ request: ScrapeRequest, _ allowsAnyHost: Bool, _ readiness: () -> Readiness
  ) -> ScrapeReply {
    guard request.hosts.count == 1 || request.hosts.isEmpty && request.minor == 0 else {
      return refusal(400, "A request needs one Host field.")
    }
    // Where the target names a host, Host says nothing (RFC 9112 §3.2.2).
    guard allowsAnyHost || (request.targetHost.map { [$0] } ?? request.hosts).allSatisfy(isLocal) else {
      return refusal(421, "This endpoint is reached by its address or as localhost.")
    }
    guard ["/metrics", "/live", "/ready"].contains(request.path) else {
      return refusal(404, "The metrics are at /metrics; there are /live and /ready besides.")
    }
    guard request.method == "GET" || request.method == "HEAD" else { return refusal(405, "Use GET or HEAD.") }
    switch request.path {
    case "/live": return ScrapeReply(status: 200, reason: "live")
    case "/ready":
      switch readiness() {
      case .ready: return ScrapeReply(status: 200, reason: "ready")
      case .notReady(let reason): return refusal(503, reason.printable)
      }
    default: return ScrapeReply(status: 200, hasMetrics: true)
    }
  }

  private static func refusal(_ status: Int, _ reason: String) -> ScrapeReply {
    ScrapeReply(status: status, reason: reason)
  }

  private static func headEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
    var index = bytes.startIndex + 3
    while index < bytes.endIndex {
      if bytes[index] == 0x0a, bytes[index - 1] == 0x0d, bytes[index - 2] == 0x0a, bytes[index - 3] == 0x0d {
        return index + 1
      }
      index += 1
    }
    return nil
  }

  private static func isLocal(_ host: String) -> Bool {
    guard let url = try? WebURL("http://\(host)/"), host.allSatisfy({ !"/?#@\\".contains($0) }) else { return false }
    if case .address = url.host { return true }
    return url.host.description == "localhost"
  }

  /// The reply as it goes out.
  ///
  /// - Parameter metrics: the metrics, where they are asked for.
  /// - Returns: its octets.
  func bytes(_ metrics: @autoclosure () -> String) -> [UInt8] {
    let body = Array((hasMetrics ? metrics() : reason + "\n").utf8)
    var head = "HTTP/1.1 \(status) \(Self.phrases[status] ?? "")\r\n"
    head += "Content-Type: \(hasMetrics ? ExpositionText.contentType : "text/plain; charset=utf-8")\r\n"
    head += "Content-Length: \(body.count)\r\n"
    if status == 405 { head += "Allow: GET, HEAD\r\n" }
    head += "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    return Array(head.utf8) + (isHead ? [] : body)
  }

  private static let phrases = [
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 421: "Misdirected Request",
    431: "Request Header Fields Too Large", 503: "Service Unavailable",
  ]
}

/// As much of a request's head as decides the reply (RFC 9112).
private struct ScrapeRequest {
  let method: String
  /// The host that the target itself names, with its port.
  let targetHost: String?
  /// Without the query.
  let path: String
  /// The digit behind `HTTP/1.`.
  let minor: Int
  var hosts: [String] = []

  /// Reads a whole head; nil if it is not one.
  init?(_ bytes: ArraySlice<UInt8>) {
    // A field may have any octet from 0x80 on (RFC 9110 §5.5): it is one character, whatever it stands for.
    let head = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
    guard let start = lines.popFirst() else { return nil }
    let words = start.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, Self.isToken(words[0]), let (host, path) = Self.target(words[1]),
      let minor = Self.minor(words[2])
    else { return nil }
    method = String(words[0])
    targetHost = host
    self.path = path
    self.minor = minor
    for line in lines where !line.isEmpty {
      // A name, a colon right behind it; folded lines are no more (RFC 9112 §5.2).
      guard let colon = line.firstIndex(of: ":"), Self.isToken(line[..<colon]),
        !line.unicodeScalars.contains(where: { $0 < " " && $0 != "\t" || $0 == "\u{7f}" })
      else { return nil }
      guard line[..<colon].lowercased() == "host" else { continue }
      hosts.append(String(line[line.index(after: colon)...].trimmed))
    }
  }

  /// What a request is for: a path, or a URL, which every server has to take (RFC 9112 §3.2.2).
  private static func target(_ text: Substring) -> (host: String?, path: String)? {
    guard text.unicodeScalars.allSatisfy({ $0 > " " && $0 < "\u{7f}" }) else { return nil }
    func path(_ text: Substring) -> String { String(text.prefix { $0 != "?" }) }
    if text.hasPrefix("/") { return (nil, path(text)) }
    let scheme = "http://"
    guard text.prefix(scheme.count).lowercased() == scheme else { return nil }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.isEmpty else { return nil }
    return (String(authority), path(rest[authority.endIndex...]))
  }

  /// The digit behind `HTTP/1.`; a version that is yet to come is read as the last one that is known (RFC 9110 §2.5).
  private static func minor(_ version: Substring) -> Int? {
    guard version.utf8.count == 8, version.hasPrefix("HTTP/1.") else { return nil }
    return version.last?.wholeNumberValue
  }

  private static func isToken(_ text: Substring) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains($0)
        }
      }
  }
}
