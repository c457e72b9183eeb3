// SPDX-License-Identifier: Apache-2.0
/// A certificate chain with the key of its first certificate, for a TLS server.
public struct TLSIdentity: Hashable, Sendable {
  /// The certificates as PEM texts, the server's own first.
  public let certificates: [String]
  /// The private key of the first certificate as PEM text.
  ///
  /// It is discarded after the test.
  public let privateKey: String

  /// Creates an identity.
  public init(certificates: [String], privateKey: String) {
    self.certificates = certificates
    self.privateKey = privateKey
  }
}
