// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Checks that every reply must pass before its body is read, whatever the format.
extension HTTPReply {
  /// Checks the status: only 2xx carries an answer (RFC 8484 §4.2.1).
  ///
  /// - Parameter advice: what to do if the server refuses the request, where that may be due to what was sent. dnsdist,
  ///   for one, refuses like that whatever it drops, also when its own servers are down.
  /// - Throws: that there is no answer.
  func checkStatus(ifRefused advice: String? = nil) throws(ProviderFailure) {
    switch status.code {
    case 200..<300: return
    case 429: throw ProviderFailure(.rateLimited(retryAfter: pause), "HTTP 429: too many requests")
    case 300..<400: throw .malformed("HTTP \(status.code): redirects are not followed")
    case 401, 403: throw .malformed("HTTP \(status.code): refused" + (advice.map { "; \($0)" } ?? ""))
    default: throw .malformed("HTTP \(status.code)")
    }
  }

  /// Checks the content type: HTML is a captive portal, whatever the status says.
  func checkContentType(_ isAllowed: (String) -> Bool) throws(ProviderFailure) {
    let given = contentType ?? ""
    // As nearly all servers spell it: without parameters, in lower case.
    if !Self.hasParameters(given), isAllowed(given) { return }
    let media = given.lowercased().split(separator: ";").first.map { String($0.trimmed) } ?? ""
    guard isAllowed(media) else {
      throw .malformed(
        media == "text/html"
          ? "an HTML page instead of an answer: a captive portal, or the wrong URL"
          : "content type \(media.isEmpty ? "missing" : DirectDNSError.quoted(media)) instead of an answer")
    }
  }

  private static func hasParameters(_ type: String) -> Bool {
    let bytes = type.utf8.span
    return bytes.indices.contains { bytes[$0] == ASCII.semicolon }
  }

  /// The longest pause: an endpoint that asks for a longer one, perhaps by mistake, is tried again after this time.
  package static let longestPause = Duration.seconds(3600)

  /// The pause that the endpoint asks for, ``longestPause`` at most.
  private var pause: Duration? {
    HTTPFreshness.pause(retryAfter: retryAfter, date: date).map { min($0, Self.longestPause) }
  }

  /// What HTTP says about the lifetime.
  var freshness: HTTPFreshness {
    HTTPFreshness(age: age, cacheControl: cacheControl)
  }
}

/// The lifetime of a reply by HTTP's rules, which shortens that of its records (RFC 8484 §5.1).
package struct HTTPFreshness: Hashable, Sendable {
  /// Seconds that the reply spent in caches.
  var age: UInt32 = 0
  /// Seconds that it may live in all; nil if it does not say, and only the records' lifetime counts.
  var maxAge: UInt32?

  package init(age: String? = nil, cacheControl: String? = nil) {
    // Of a list the first member counts (RFC 9111 §5.1).
    self.age = age.flatMap { Self.seconds(String($0.prefix { $0 != "," })) } ?? 0
    maxAge = cacheControl.flatMap(Self.maxAge)
  }

  /// Reads the number of seconds in a field; one that is too large becomes the largest (RFC 9111 §1.2.2).
  package static func seconds(_ value: String) -> UInt32? {
    let digits = value[...].trimmed
    guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return UInt32(digits) ?? .max
  }

  /// Reads `Retry-After`, which is in seconds or a date (RFC 9110 §10.2.3).
  ///
  /// A date counts from the response's own `Date`, since this machine's clock need not be right.
  static func pause(retryAfter: String?, date: String?) -> Duration? {
    guard let retryAfter else { return nil }
    if let seconds = Self.seconds(retryAfter) { return .seconds(Int64(seconds)) }
    guard let end = HTTPDate.secondsSince1970(retryAfter), let sent = date.flatMap(HTTPDate.secondsSince1970) else {
      return nil
    }
    // Years have at most four digits, so the difference cannot overflow.
    return .seconds(max(0, end - sent))
  }

  /// The seconds of the `max-age` directive (RFC 9111 §5.2.2.1); `s-maxage` is for shared caches, which this is not.
  private static func maxAge(_ cacheControl: String) -> UInt32? {
    let bytes = cacheControl.utf8.span
    var index = 0
    while index < bytes.count {
      // One directive, from after a comma and spaces up to the next comma between directives.
      while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 || bytes[index] == 0x2c { index += 1 }
      var matched = 0
      while matched < maxAgeBytes.count, index < bytes.count,
        ASCII.lowercased(bytes[index]) == maxAgeBytes[matched]
      {
        matched += 1
        index += 1
      }
      while matched == maxAgeBytes.count, index < bytes.count, bytes[index] == 0x20 { index += 1 }
      if matched == maxAgeBytes.count, index < bytes.count, bytes[index] == UInt8(ascii: "=") {
        index += 1
        while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x22 { index += 1 }
        var seconds: UInt32 = 0
        let start = index
        while index < bytes.count, ASCII.isDigit(bytes[index]) {
          // Limited to over twelve years, longer than any record lives, so that it cannot overflow.
          seconds = min(seconds * 10 + UInt32(bytes[index] - ASCII.zero), 400_000_000)
          index += 1
        }
        return index > start ? seconds : nil
      }
      // A comma in a quoted string ends nothing (RFC 9111 §5.2), nor does an escaped quote end the string.
      var isQuoted = false
      while index < bytes.count, isQuoted || bytes[index] != 0x2c {
        if bytes[index] == 0x22 { isQuoted.toggle() }
        if isQuoted, bytes[index] == ASCII.backslash { index += 1 }
        index += 1
      }
    }
    return nil
  }

  private static let maxAgeBytes = Array("max-age".utf8)

  /// What is left of a record's lifetime, in seconds: min(TTL − Age, max-age − Age), and not below 0.
  package func lifetime(_ ttl: UInt32) -> UInt32 {
    let bound = min(ttl, maxAge ?? .max)
    return bound > age ? bound - age : 0
  }

  /// What is left of the lifetime of addresses, in seconds, and 1 if nothing is, unless their own TTL is 0.
  ///
  /// That alone says that they are for those who wait for them (RFC 1035 §3.2.1). A reply that is older than its
  /// records live has expired, as others do: its addresses are of use where nobody answers any more (RFC 8767).
  func ttl(_ ttl: UInt32) -> UInt32 { max(lifetime(ttl), min(ttl, 1)) }
}
