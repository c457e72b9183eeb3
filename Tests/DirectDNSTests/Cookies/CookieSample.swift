// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting

@testable import DirectDNS

/// What tests of cookies say often.
extension Sample {
  /// The seconds of ``ManualClock``'s wall clock at its start.
  static let now = CookieTime(secondsSince1970: 1_700_000_000)

  /// A cookie that a response sets; nil when it is rejected.
  static func cookie(_ field: String, from url: String = "https://www.a.example/", at now: CookieTime = now) -> Cookie?
  {
    try? Cookie(setCookie: field, for: Sample.url(url), now: now)
  }

  static func request(_ url: String, hostField: String? = nil) -> CookieContext {
    do {
      return try CookieContext(Sample.url(url), hostField: hostField)
    } catch {
      preconditionFailure("\(url): \(error)")
    }
  }

  static func domain(_ text: String) -> Cookie.Domain {
    IPAddress(text).map(Cookie.Domain.address) ?? .name(name(text))
  }
}

extension CookieTime {
  /// The instant so many seconds later.
  static func + (time: CookieTime, seconds: Int64) -> CookieTime { time + .seconds(seconds) }
}
