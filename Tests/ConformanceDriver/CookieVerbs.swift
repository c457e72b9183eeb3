// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Synchronization

/// The verbs of the cookie jar.
let cookieVerbs: [String: Verb] = [
  "cookies.run": { input in
    guard let steps = input["steps"] as? [JSONObject] else { throw MissingField(name: "steps") }
    let clock = WallClock(secondsSince1970: (input["now"] as? Double) ?? 1_700_000_000)
    let jar = CookieJar(clock: clock)
    var headers: [String] = []
    for step in steps {
      switch try text(step, "op") {
      case "set":
        guard let fields = step["set_cookie"] as? [String] else { throw MissingField(name: "set_cookie") }
        jar.store(setCookie: fields, for: try WebURL(text(step, "url")))
      case "get": headers.append(jar.cookieHeader(for: try WebURL(text(step, "url"))) ?? "")
      case "advance":
        guard let seconds = step["seconds"] as? Double else { throw MissingField(name: "seconds") }
        clock.advance(by: seconds)
      case let other: throw MissingField(name: "op, which is \(other)")
      }
    }
    return ["cookie": headers]
  },
  "cookies.date": { input in
    let time = CookieTime(cookieDate: try text(input, "date"))
    return ["epoch": time?.secondsSince1970 as Any? ?? NSNull()]
  },
  // A host matches the domain of a cookie that it could have set: the attribute is read as one of `Set-Cookie`.
  "cookies.domain_match": { input in
    let host = try domain(ofHost: text(input, "host"))
    let attribute = try SetCookie("a=b; Domain=" + text(input, "domain")).domain ?? ""
    return ["match": !attribute.isEmpty && host?.covering(attribute) != nil]
  },
  "cookies.path_match": { input in
    ["match": CookiePath.matches(try text(input, "request_path"), try text(input, "cookie_path"))]
  },
  "cookies.default_path": { input in
    // A URL without a path has none, or null.
    ["path": CookiePath.defaultPath(of: input["path"] is NSNull ? "" : try text(input, "path"))]
  },
  "cookies.canonical_host": { input in
    let host = try domain(ofHost: text(input, "host"))?.description
    return ["host": host as Any? ?? NSNull(), "canonical": host as Any? ?? NSNull()]
  },
  // What a `Domain` attribute makes of a cookie.
  "cookies.domain_attr": { input in
    let host = try WebURL("https://\(text(input, "host"))/")
    do {
      let cookie = try Cookie(
        setCookie: "a=b; Domain=" + text(input, "domain"), for: host, now: CookieTime(secondsSince1970: 1_700_000_000))
      return ["accepted": true, "domain": cookie.domain.description, "host_only": cookie.isHostOnly]
    } catch is CookieRejection {
      return ["accepted": false]
    }
  },
  "psl.registrable": { input in
    let host = try text(input, "host")
    // A host that is no name, such as one with an empty label, has no registrable domain.
    guard let domain = (try? HostName(host))?.registrableDomain else { return ["registrable": NSNull()] }
    // The library answers in A-labels; the cases want the labels spelled as they were asked about.
    let labels = host.lowercased().split(separator: ".").suffix(domain.labels.count)
    return ["registrable": labels.joined(separator: ".")]
  },
]

/// Whom a host's cookies belong to; nil for one that is none or cannot be looked up, and so sets none.
private func domain(ofHost text: String) throws -> Cookie.Domain? {
  do { return try Cookie.Domain(WebURL.Host(text)) } catch let error where Refusal.isOne(error) { return nil }
}

/// A wall clock that the cases move.
private final class WallClock: ResolverClock {
  private let milliseconds: Atomic<Int64>

  init(secondsSince1970: Double) { milliseconds = Atomic(Int64((secondsSince1970 * 1000).rounded())) }

  /// Rounded down, before 1970 too.
  var secondsSince1970: Int64 {
    let (seconds, rest) = milliseconds.load(ordering: .relaxed).quotientAndRemainder(dividingBy: 1000)
    return rest < 0 ? seconds - 1 : seconds
  }

  var now: ResolverInstant { ResolverInstant(nanoseconds: 0) }

  func advance(by seconds: Double) { milliseconds.add(Int64((seconds * 1000).rounded()), ordering: .relaxed) }

  func sleep(until instant: ResolverInstant) async throws {}
}
