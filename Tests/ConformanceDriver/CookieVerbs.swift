import DirectDNS
import Foundation
import Synchronization

/// The verbs of the cookie jar.
let cookieVerbs: [String: Verb] = [
  "cookies.run": { input in
    guard let steps = input["steps"] as? [JSONObject] else { throw MissingField(name: "steps") }
    let clock = WallClock(secondsSince1970: (input["now"] as? Int).map(Int64.init) ?? 1_700_000_000)
    let jar = CookieJar(clock: clock)
    var headers: [String] = []
    for step in steps {
      switch try text(step, "op") {
      case "set": jar.store(setCookie: step["set_cookie"] as? [String] ?? [], for: try WebURL(text(step, "url")))
      case "get": headers.append(jar.cookieHeader(for: try WebURL(text(step, "url"))) ?? "")
      case "advance": clock.advance(by: Int64(step["seconds"] as? Int ?? 0))
      default: return ["unsupported": true]
      }
    }
    return ["cookie": headers]
  },
  "cookies.date": { input in
    let time = CookieTime(cookieDate: try text(input, "date"))
    return ["epoch": time?.secondsSince1970 as Any? ?? NSNull()]
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

/// A wall clock that the cases move.
private final class WallClock: ResolverClock {
  private let seconds: Atomic<Int64>

  init(secondsSince1970: Int64) { seconds = Atomic(secondsSince1970) }

  var secondsSince1970: Int64 { seconds.load(ordering: .relaxed) }

  var now: ResolverInstant { ResolverInstant(nanoseconds: 0) }

  func advance(by step: Int64) { seconds.add(step, ordering: .relaxed) }

  func sleep(until instant: ResolverInstant) async throws {}
}
