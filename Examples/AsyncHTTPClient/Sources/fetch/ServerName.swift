// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import DirectDNS
import NIOCore
import NIOSSL
import X509

/// The name that a server's certificate must hold.
///
/// swift-nio-ssl looks for the name *or the address of the connection* in it (IdentityVerification.swift). Whoever
/// makes a name lead to an address of theirs, with a certificate for that address, would pass. RFC 9525 §6.1: what
/// counts is what the client asked for, and that is the name.
struct ServerName {
  private let name: HostName

  init(_ name: HostName) {
    self.name = name
  }

  /// Checks the certificate of every connection after the handshake and before any request.
  func require(of configuration: inout HTTPClient.Configuration) {
    let check: @Sendable (any Channel) -> EventLoopFuture<Void> = { [self] channel in
      channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
        guard let certificate, try isHeld(by: certificate) else { throw Mismatch(name: name) }
      }
      .flatMapError { error in channel.close().flatMapThrowing { throw error } }
    }
    configuration.http1_1ConnectionDebugInitializer = check
    configuration.http2ConnectionDebugInitializer = check
  }

  private func isHeld(by certificate: NIOSSLCertificate) throws -> Bool {
    let certificate = try Certificate(derEncoded: certificate.toDERBytes())
    guard let names = try certificate.extensions.subjectAlternativeNames else { return false }
    return names.contains { entry in
      guard case .dnsName(let pattern) = entry else { return false }
      return matches(pattern.lowercased())
    }
  }

  /// RFC 9525 §6.3: a star stands for the whole first label, and nothing else.
  private func matches(_ pattern: String) -> Bool {
    if pattern.hasPrefix("*.") { return pattern.dropFirst() == name.text.drop { $0 != "." } }
    return pattern == name.text
  }

  /// The server has proved to be another one.
  struct Mismatch: Error, CustomStringConvertible {
    let name: HostName
    var description: String { "the server's certificate is not for \(name)" }
  }
}
