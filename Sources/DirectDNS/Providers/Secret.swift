// SPDX-License-Identifier: Apache-2.0
/// A text that must not be shown: keys, tokens, signing secrets.
///
/// Descriptions, dumps and string interpolation show `<redacted>`; only code of this package that signs or logs in
/// reads the text.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable,
  ExpressibleByStringLiteral
{
  package let text: String

  /// Wraps a secret text.
  public init(_ text: String) { self.text = text }

  /// Wraps a secret text.
  public init(stringLiteral value: String) { self.init(value) }

  /// Always `<redacted>`.
  public var description: String { "<redacted>" }
  /// Always `<redacted>`.
  public var debugDescription: String { description }
  /// Always `<redacted>`.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}

/// The account and its secrets, for providers that need them.
///
/// Secrets come from the configuration or the environment.
public struct ProviderCredentials: Sendable, Hashable {
  /// AliDNS: the account id (`uid`).
  ///
  /// EMAS: the account id.
  public var account: String?
  /// AliDNS: the AccessKey id (`ak`).
  public var keyID: String?
  /// AliDNS: the AccessKey secret.
  ///
  /// EMAS: the signing secret.
  public var secret: Secret?
  /// DNSPod: the token of the HTTPS form.
  public var token: Secret?

  /// Creates credentials; without arguments there are none.
  public init(account: String? = nil, keyID: String? = nil, secret: Secret? = nil, token: Secret? = nil) {
    self.account = account
    self.keyID = keyID
    self.secret = secret
    self.token = token
  }

  /// Whether there are none at all.
  public var isEmpty: Bool { self == ProviderCredentials() }
}
