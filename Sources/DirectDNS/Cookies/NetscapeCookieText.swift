// SPDX-License-Identifier: Apache-2.0
/// The text of a cookie file in the Netscape format, which curl, wget and many others read and write.
///
/// A line has seven fields between tabs: domain, whether the hosts below get the cookie, path, whether it is `Secure`,
/// expiry in seconds since 1970 (0: with the session), name, value. curl's `#HttpOnly_` before the domain marks a
/// cookie that scripts may not see, and our `#Held_` one that is held back: for other programs that line is a comment,
/// so they do not send the cookie either.
enum NetscapeCookieText {
  private static let held = "#Held_"
  private static let httpOnly = "#HttpOnly_"
  private static let head = "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n\n"

  // MARK: Reading

  static func decode(_ bytes: [UInt8], now: CookieTime) -> (cookies: [Cookie], problems: [NetscapeCookieFile.Problem]) {
    var cookies: [Cookie] = []
    var problems: [NetscapeCookieFile.Problem] = []
    for (index, var line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      do throws(Flaw) {
        guard let text = String(validating: line, as: UTF8.self) else { throw Flaw("is not UTF-8") }
        if let cookie = try cookie(text, now: now) { cookies.append(cookie) }
      } catch {
        problems.append(NetscapeCookieFile.Problem(line: index + 1, reason: error.reason))
      }
    }
    return (cookies, problems)
  }

  /// What is wrong with a line, to follow "the line".
  private struct Flaw: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// The cookie on a line; nil for a comment and for a blank line.
  private static func cookie(_ line: String, now: CookieTime) throws(Flaw) -> Cookie? {
    var line = line[...]
    let isHeld = drop(held, from: &line)
    let isHTTPOnly = drop(httpOnly, from: &line)
    guard line.utf8.first != ASCII.hash, !line.utf8.allSatisfy(ASCII.isBlank) else { return nil }
    var fields = line.utf8.split(separator: tab, omittingEmptySubsequences: false).map { String(Substring($0)) }
    // An editor may have removed the last tab, after which there was only an empty value.
    if fields.count == 6 { fields.append("") }
    guard fields.count == 7 else {
      throw Flaw("has \(fields.count) field\(fields.count == 1 ? "" : "s") between tabs, not 7")
    }
    let domain = try domain(fields[0])
    let includesBelow = try flag(fields[1], 2)
    guard let expires = seconds(fields[4]) else { throw Flaw("has no whole number of seconds as its field 5") }
    let isSecure = try flag(fields[3], 4)
    do {
      var cookie = try Cookie(
        name: fields[5], value: fields[6], domain: domain,
        // A public suffix may have cookies of its own, such as `localhost` (RFC 6265bis §5.7).
        isHostOnly: !includesBelow || domain.isPublicSuffix, path: path(fields[2]),
        expires: expires == 0 ? nil : CookieTime(secondsSince1970: expires), isSecure: isSecure,
        isHTTPOnly: isHTTPOnly, now: now)
      cookie.isHeld = isHeld
      return cookie
    } catch {
      throw Flaw("is refused: \(error)")
    }
  }

  private static let tab = UInt8(ascii: "\t")
  private static let quotationMark = UInt8(ascii: "\"")

  /// A number of seconds; one that is too large becomes the largest, which is later than any cookie may last.
  ///
  /// Browsers' extensions write a fraction, too, which curl passes over.
  private static func seconds(_ field: String) -> Int64? {
    var text = field
    if let point = field.utf8.firstIndex(of: ASCII.dot) {
      let fraction = field.utf8[point...].dropFirst()
      guard !fraction.isEmpty, fraction.allSatisfy(ASCII.isDigit) else { return nil }
      text = String(field[..<point])
    }
    return Int64(text) ?? (!text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) ? .max : nil)
  }

  private static func drop(_ prefix: String, from line: inout Substring) -> Bool {
    guard line.utf8.starts(with: prefix.utf8) else { return false }
    line = Substring(line.utf8.dropFirst(prefix.utf8.count))
    return true
  }

  private static func flag(_ text: String, _ field: Int) throws(Flaw) -> Bool {
    switch text.lowercased() {
    case "true": return true
    case "false": return false
    default: throw Flaw("has neither TRUE nor FALSE as its field \(field)")
    }
  }

  /// The path as curl reads it, which writes what a server has sent: without quotation marks, and `/` for what is none.
  private static func path(_ field: String) -> String {
    var text = field.utf8[...]
    if text.first == quotationMark { text = text.dropFirst() }
    if text.last == quotationMark { text = text.dropLast() }
    return text.first == ASCII.slash ? String(Substring(text)) : "/"
  }

  /// The domain; a leading dot is customary, and says no more than the flag does.
  private static func domain(_ text: String) throws(Flaw) -> Cookie.Domain {
    if let address = IPAddress(text) { return .address(address) }
    do {
      return try Cookie.Domain(
        WebURL.Host(text.utf8.first == ASCII.dot ? String(Substring(text.utf8.dropFirst())) : text))
    } catch {
      throw Flaw("has no host as its field 1: \(DirectDNSError.quoted(text))")
    }
  }

  // MARK: Writing

  /// - Returns: the text, and the cookies that the format has no way to write.
  static func encode(_ cookies: some Sequence<Cookie>) -> (text: String, leftOut: [Cookie]) {
    var text = head
    var leftOut: [Cookie] = []
    for cookie in cookies {
      if isWritable(cookie) { text += line(cookie) } else { leftOut.append(cookie) }
    }
    return (text, leftOut)
  }

  /// A tab would shift the fields, and curl takes the value of a cookie without a name for its name.
  private static func isWritable(_ cookie: Cookie) -> Bool {
    !cookie.name.isEmpty && ![cookie.name, cookie.value, cookie.path].contains { $0.utf8.contains(tab) }
  }

  private static func line(_ cookie: Cookie) -> String {
    let fields = [
      // A dot if and only if the flag is TRUE, which Python's reader requires.
      (cookie.isHostOnly ? "" : ".") + cookie.domain.description, cookie.isHostOnly ? "FALSE" : "TRUE",
      // Whoever reads it takes one quotation mark off its end.
      cookie.path.utf8.last == quotationMark ? cookie.path + "\"" : cookie.path,
      cookie.isSecure ? "TRUE" : "FALSE", "\(cookie.expires?.secondsSince1970 ?? 0)", cookie.name, cookie.value,
    ]
    return (cookie.isHeld ? held : "") + (cookie.isHTTPOnly ? httpOnly : "") + fields.joined(separator: "\t") + "\n"
  }
}
