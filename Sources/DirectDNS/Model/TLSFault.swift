// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a server's certificate or its TLS, as far as the words of OpenSSL and libcurl tell: each fault
/// has a remedy of its own.
package enum TLSFault: Sendable, Hashable {
  /// The certificate's time is over, or that of an authority above it.
  case expired
  /// Its time, or that of an authority above it, has not begun.
  case notYetValid
  /// It is for other names than the one that was connected to.
  case otherName
  /// Nobody who is trusted has signed it.
  case untrusted
  /// What answers speaks no TLS at all, but plain http perhaps.
  case notSpoken

  /// The fault that a reason tells of; nil if it tells of none of these.
  ///
  /// libcurl has one code for all certificates (CURLE_PEER_FAILED_VERIFICATION), and a text.
  ///
  /// - Parameter reason: why TLS failed, in words.
  package init?(_ reason: String) {
    // An alert is the server's word about this side's certificate.
    guard !HTTPTransportError.isAboutClientCertificate(reason) else { return nil }
    if reason.contains("certificate has expired") {
      self = .expired
    } else if reason.contains("certificate is not yet valid") {
      self = .notYetValid
    } else if Self.otherNameWords.contains(where: { reason.contains($0) }) {
      self = .otherName
    } else if Self.untrustedWords.contains(where: { reason.contains($0) }) {
      self = .untrusted
    } else if Self.notSpokenWords.contains(where: { reason.contains($0) }) {
      self = .notSpoken
    } else {
      return nil
    }
  }

  /// libcurl's, and OpenSSL's where it compares names and addresses itself.
  private static let otherNameWords = ["subject name", "hostname mismatch", "Hostname mismatch", "address mismatch"]
  private static let untrustedWords = ["issuer", "self-signed", "self signed", "verify the first"]
  /// OpenSSL takes the first bytes of a text for a record's version and its length, at which 3.4.1 looks first.
  private static let notSpokenWords = ["wrong version number", "packet length too long"]

  /// Whether it may as well be this machine's clock that is wrong.
  package var mayBeTheClock: Bool { self == .expired || self == .notYetValid }
}

extension TLSFault? {
  /// What to do where it is a provider's; nil stands for a fault that is not known.
  package var providerAdvice: String {
    switch self {
    case .expired?:
      "If this machine's clock is right, a certificate has run out, the provider's or its authority's: have it renewed, or name other providers."
    case .notYetValid?: "This machine's clock is behind, or the provider's certificate is for later: set the clock."
    case .otherName?:
      "Another server answers there, or one with a wrong certificate: check the provider's URL and its bootstrap addresses (dnsctl: --bootstrap), or name other providers."
    case .untrusted?:
      "If the provider has an authority of its own, trust that (configuration file: ca; dnsctl: --ca); otherwise the connection is being intercepted: name other providers."
    case .notSpoken?:
      "What answers there speaks no TLS: check the provider's URL, its port and its bootstrap addresses (dnsctl: --bootstrap), or name other providers."
    case nil:
      "If this machine's clock and certificate authorities are right, the connection is being intercepted: name other providers, or trust a private authority (configuration file: ca; dnsctl: --ca)."
    }
  }
}

extension HTTPTransportError {
  /// Whether OpenSSL tells of a server's alert about the client's certificate (RFC 8446 §6.2); what is wrong with the
  /// server's own is no alert.
  package static func isAboutClientCertificate(_ text: String) -> Bool {
    text.contains(" alert ") && (text.contains("certificate") || text.contains("unknown ca"))
  }

  /// What is wrong with the server's certificate or TLS, if that is why there was no response, and if it is known.
  package var tlsFault: TLSFault? {
    if case .tls(let reason) = self { TLSFault(reason) } else { nil }
  }
}
