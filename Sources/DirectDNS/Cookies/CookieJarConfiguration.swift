// SPDX-License-Identifier: Apache-2.0
/// How much a cookie jar holds.
///
/// A limit of 0 or less leaves no room: nothing is kept, or nothing is sent.
public struct CookieJarConfiguration: Hashable, Sendable {
  /// The order in which cookies whose paths are equally long are sent.
  public enum Order: Hashable, Sendable {
    /// What came first comes first (RFC 6265bis §5.8.3).
    case oldestFirst
    /// As curl sends them: longer domains first, then longer names, then what came last.
    case curl
  }

  /// The most cookies in all; 3 000 by default.
  public var maximumCookies: Int
  /// The most cookies per registrable domain (`example.co.uk`), its hosts together; 180 by default.
  public var maximumCookiesPerDomain: Int
  /// The longest that a cookie may last; 400 days by default, and more counts as 400 days.
  ///
  /// Cookies without an expiry, which last for the session, are kept whatever it is.
  public var maximumAge: Duration
  /// The bytes of the longest `Cookie` line, the field's name included; 8 190 by default.
  public var maximumHeaderBytes: Int
  /// The order of cookies whose paths are equally long; ``Order/oldestFirst`` by default.
  ///
  /// Longer paths come first anyway.
  public var order: Order

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - maximumCookies: the most cookies in all; 3 000 by default.
  ///   - maximumCookiesPerDomain: the most cookies per registrable domain; 180 by default.
  ///   - maximumAge: the longest that a cookie may last; 400 days by default.
  ///   - maximumHeaderBytes: the bytes of the longest `Cookie` line; 8 190 by default, as many as Apache's httpd takes.
  ///   - order: the order of cookies whose paths are equally long; ``Order/oldestFirst`` by default.
  public init(
    maximumCookies: Int = 3_000, maximumCookiesPerDomain: Int = 180, maximumAge: Duration = Cookie.maximumAge,
    maximumHeaderBytes: Int = 8_190, order: Order = .oldestFirst
  ) {
    self.maximumCookies = maximumCookies
    self.maximumCookiesPerDomain = maximumCookiesPerDomain
    self.maximumAge = maximumAge
    self.maximumHeaderBytes = maximumHeaderBytes
    self.order = order
  }
}
