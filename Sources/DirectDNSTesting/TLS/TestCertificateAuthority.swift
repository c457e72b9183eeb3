// SPDX-License-Identifier: Apache-2.0
import Crypto
public import DirectDNS
import FoundationEssentials
import SwiftASN1
import X509

/// A certificate authority that lives in memory as long as a test does.
///
/// ```swift
/// let authority = try TestCertificateAuthority()
/// let identity = try authority.issue(names: ["doh.test"])
/// let file = try authority.makeFile()  // ca.pem for the client, removed with the object
/// ```
///
/// Keys are P-256. Making an authority and a certificate takes about a millisecond.
public struct TestCertificateAuthority: Sendable {
  /// When a certificate is valid, by the machine's own clock, which TLS libraries go by.
  public enum Validity: Sendable, CaseIterable {
    /// From yesterday until in 30 days.
    case current
    /// Until yesterday.
    case expired
    /// From tomorrow on.
    case notYetValid

    fileprivate var bounds: (from: Date, until: Date) {
      let now = Date()
      let day: Double = 86_400
      return switch self {
      case .current: (now.addingTimeInterval(-day), now.addingTimeInterval(30 * day))
      case .expired: (now.addingTimeInterval(-30 * day), now.addingTimeInterval(-day))
      case .notYetValid: (now.addingTimeInterval(day), now.addingTimeInterval(30 * day))
      }
    }
  }

  /// The authority's own certificate as PEM text: what a client has to trust.
  public let certificate: String

  private let key: Certificate.PrivateKey
  private let name: DistinguishedName

  /// Creates an authority with a fresh key.
  ///
  /// Two authorities of one name do not trust each other.
  ///
  /// - Parameter name: the common name.
  /// - Throws: what the certificate library throws.
  public init(name: String = "DirectDNS Test Authority") throws {
    key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    self.name = try DistinguishedName { CommonName(name) }
    let bounds = Validity.current.bounds
    let publicKey = key.publicKey
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
      notValidBefore: bounds.from, notValidAfter: bounds.until, issuer: self.name, subject: self.name,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        SubjectKeyIdentifier(hash: publicKey)
      },
      issuerPrivateKey: key)
    self.certificate = try certificate.serializeAsPEM().pemString
  }

  /// Issues a server certificate.
  ///
  /// - Parameters:
  ///   - names: its DNS names; `*.example.test` is possible. A name that the client does not ask for makes a
  ///     wrong-name certificate.
  ///   - addresses: its IP addresses; by default none, so that a client that verifies by address fails.
  ///   - validity: when it is valid.
  /// - Returns: the certificate and its key.
  /// - Throws: what the certificate library throws.
  public func issue(
    names: [String], addresses: [IPAddress] = [], validity: Validity = .current
  ) throws -> TLSIdentity {
    try Self.leaf(names: names, addresses: addresses, validity: validity, issuer: (name, key))
  }

  /// Issues a certificate for a client to show.
  ///
  /// - Parameters:
  ///   - name: the common name.
  ///   - validity: when it is valid.
  /// - Returns: the certificate and its key.
  /// - Throws: what the certificate library throws.
  public func issueClient(name: String, validity: Validity = .current) throws -> TLSIdentity {
    try Self.leaf(names: [name], addresses: [], validity: validity, issuer: (self.name, key), usage: .clientAuth)
  }

  /// Makes a server certificate that signed itself: no authority vouches for it.
  ///
  /// - Parameters:
  ///   - names: its DNS names.
  ///   - addresses: its IP addresses.
  /// - Returns: the certificate and its key.
  /// - Throws: what the certificate library throws.
  public static func selfSigned(names: [String], addresses: [IPAddress] = []) throws -> TLSIdentity {
    try leaf(names: names, addresses: addresses, validity: .current, issuer: nil)
  }

  private static func leaf(
    names: [String], addresses: [IPAddress], validity: Validity,
    issuer: (name: DistinguishedName, key: Certificate.PrivateKey)?, usage: ExtendedKeyUsage.Usage = .serverAuth
  ) throws -> TLSIdentity {
    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let publicKey = key.publicKey
    let subject = try DistinguishedName {
      CommonName(names.first ?? addresses.first?.description ?? "directdns.test")
    }
    let issuer = issuer ?? (subject, key)
    let alternatives =
      names.map { GeneralName.dnsName($0) }
      + addresses.map { GeneralName.ipAddress(ASN1OctetString(contentBytes: $0.bytes[...])) }
    let bounds = validity.bounds
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
      notValidBefore: bounds.from, notValidAfter: bounds.until, issuer: issuer.name, subject: subject,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([usage])
        SubjectAlternativeNames(alternatives)
        SubjectKeyIdentifier(hash: publicKey)
        AuthorityKeyIdentifier(
          keyIdentifier: SubjectKeyIdentifier(hash: issuer.key.publicKey).keyIdentifier)
      },
      issuerPrivateKey: issuer.key)
    return TLSIdentity(
      certificates: [try certificate.serializeAsPEM().pemString],
      privateKey: try key.serializeAsPEM().pemString)
  }
}
