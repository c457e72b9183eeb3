// SPDX-License-Identifier: Apache-2.0
/// An AliDNS account that a fake server knows.
public struct AliDNSAccount: Hashable, Sendable {
  /// The account ID, sent as `uid`.
  public var id: String
  /// The AccessKey ID, sent as `ak`.
  public var accessKeyID: String
  /// The AccessKey secret, which signs and is never sent.
  public var accessKeySecret: String
  /// How far `ts` may be from the server's clock, in seconds.
  ///
  /// Default: 600.
  public var window: Int64

  /// Creates an account.
  public init(id: String, accessKeyID: String, accessKeySecret: String, window: Int64 = 600) {
    self.id = id
    self.accessKeyID = accessKeyID
    self.accessKeySecret = accessKeySecret
    self.window = window
  }
}

/// A DNSPod account that a fake server knows.
public struct DNSPodAccount: Hashable, Sendable {
  /// The account's number, sent as `id` in an encrypted request.
  public var id: String
  /// What an unencrypted request must send as `token`.
  public var token: String
  /// The 16 bytes that encrypt requests with `alg=aes`; nil if encryption is not set up.
  public var aesKey: String?

  /// Creates an account.
  public init(id: String = "", token: String, aesKey: String? = nil) {
    self.id = id
    self.token = token
    self.aesKey = aesKey
  }
}

/// An EMAS HTTPDNS account that a fake server knows.
public struct EMASAccount: Hashable, Sendable {
  /// The account's number: the first part of a v1 path, and `id` in v2.
  public var id: String
  /// The secret that signs; v2 takes it as hexadecimal digits.
  public var secret: String
  /// The AES-128 key of v2's encryption, 32 hexadecimal digits; nil if encryption is not set up.
  public var aesKey: String?
  /// Whether unsigned requests are refused.
  ///
  /// Default: true.
  public var requiresSignature: Bool

  /// Creates an account.
  public init(id: String, secret: String, aesKey: String? = nil, requiresSignature: Bool = true) {
    self.id = id
    self.secret = secret
    self.aesKey = aesKey
    self.requiresSignature = requiresSignature
  }
}
