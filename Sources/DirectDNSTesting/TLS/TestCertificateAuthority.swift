// SPDX-License-Identifier: Apache-2.0
import CDirectDNSOpenSSL
public import DirectDNS

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
  /// When a certificate is valid, by the machine's own clock, which TLS libraries use.
  public enum Validity: Sendable, CaseIterable {
    /// From yesterday until in 30 days.
    case current
    /// Until yesterday.
    case expired
    /// From tomorrow on.
    case notYetValid

    fileprivate var bounds: ClosedRange<Int> {
      let day = 86_400
      return switch self {
      case .current: -day...30 * day
      case .expired: -30 * day ... -day
      case .notYetValid: day...30 * day
      }
    }
  }

  /// The authority's own certificate as PEM text: what a client has to trust.
  public var certificate: String { identity.certificates[0] }

  private let identity: TLSIdentity

  /// Creates an authority with a fresh key.
  ///
  /// Two authorities with the same name do not trust each other.
  ///
  /// - Parameter name: the common name.
  /// - Throws: the step that OpenSSL failed at.
  public init(name: String = "DirectDNS Test Authority") throws {
    identity = try CertificateMaker.make(
      name: name, validity: Validity.current.bounds,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
      ],
      issuer: nil)
  }

  /// Issues a server certificate.
  ///
  /// - Parameters:
  ///   - names: its DNS names; `*.example.test` is possible. With a name that the client does not ask for, its check of
  ///     the name fails.
  ///   - addresses: its IP addresses; none by default, so that a client that verifies by address fails.
  ///   - validity: when it is valid.
  /// - Returns: the certificate and its key.
  /// - Throws: the step that OpenSSL failed at.
  public func issue(
    names: [String], addresses: [IPAddress] = [], validity: Validity = .current
  ) throws -> TLSIdentity {
    try Self.leaf(names: names, addresses: addresses, validity: validity, issuer: identity)
  }

  /// Issues a client certificate.
  ///
  /// - Parameters:
  ///   - name: the common name.
  ///   - validity: when it is valid.
  /// - Returns: the certificate and its key.
  /// - Throws: the step that OpenSSL failed at.
  public func issueClient(name: String, validity: Validity = .current) throws -> TLSIdentity {
    try Self.leaf(names: [name], addresses: [], validity: validity, issuer: identity, usage: "clientAuth")
  }

  /// Makes a self-signed server certificate, which no authority has issued.
  ///
  /// - Parameters:
  ///   - names: its DNS names.
  ///   - addresses: its IP addresses.
  /// - Returns: the certificate and its key.
  /// - Throws: the step that OpenSSL failed at.
  public static func selfSigned(names: [String], addresses: [IPAddress] = []) throws -> TLSIdentity {
    try leaf(names: names, addresses: addresses, validity: .current, issuer: nil)
  }

  private static func leaf(
    names: [String], addresses: [IPAddress], validity: Validity, issuer: TLSIdentity?, usage: String = "serverAuth"
  ) throws -> TLSIdentity {
    let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
    var extensions = [
      (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
      (NID_ext_key_usage, usage), (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
    ]
    if !alternatives.isEmpty { extensions.append((NID_subject_alt_name, alternatives.joined(separator: ","))) }
    return try CertificateMaker.make(
      name: names.first ?? addresses.first?.description ?? "directdns.test", validity: validity.bounds,
      extensions: extensions, issuer: issuer)
  }
}
