// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// How redirects are followed.
public struct RedirectConfiguration: Hashable, Sendable {
  /// What becomes of a POST that is answered with 301 or 302.
  public enum PostRedirect: Hashable, Sendable {
    /// It goes on as GET, without its body, as browsers have always done (RFC 9110 §15.4.2).
    case toGET
    /// It stays a POST and keeps its body.
    case keep
  }

  /// What becomes of a redirect from TLS to plain text.
  public enum Downgrade: Hashable, Sendable {
    /// It is followed, without credentials, since the origin is another one.
    case allowed
    /// It is an error.
    case refused
  }

  /// How many redirects are followed in a row; the next one is an error.
  ///
  /// Default: 20. With 0 the first redirect is an error.
  public var limit: Int
  /// What becomes of a POST that is answered with 301 or 302; ``PostRedirect/toGET`` by default.
  public var postRedirect: PostRedirect
  /// What becomes of a redirect from TLS to plain text; ``Downgrade/allowed`` by default.
  public var downgrade: Downgrade
  /// Fields that hold secrets of the caller's own, such as an API key; none by default.
  ///
  /// They go to no other origin, as `Authorization` and `Cookie` do without being named here.
  public var secretFields: Set<HTTPField.Name>

  /// Creates a configuration.
  public init(
    limit: Int = 20, postRedirect: PostRedirect = .toGET, downgrade: Downgrade = .allowed,
    secretFields: Set<HTTPField.Name> = []
  ) {
    self.limit = limit
    self.postRedirect = postRedirect
    self.downgrade = downgrade
    self.secretFields = secretFields
  }
}
