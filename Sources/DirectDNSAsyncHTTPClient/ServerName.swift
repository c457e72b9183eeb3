// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import CDirectDNSOpenSSL
  public import DirectDNS
  internal import NIOCore
  internal import NIOSSL

  /// The name that a server's certificate must hold.
  ///
  /// swift-nio-ssl looks for the name *or the address of the connection* in it (IdentityVerification.swift). Whoever
  /// makes a name lead to an address of theirs, with a certificate for that address, would pass. RFC 9525 §6.1: what
  /// counts is what the client asked for, and that is the name.
  struct ServerName: Sendable {
    private let name: HostName

    init(_ name: HostName) { self.name = name }

    /// Checks the certificate of every connection after the handshake and before any request.
    func require(of configuration: inout HTTPClient.Configuration) {
      configuration.http1_1ConnectionDebugInitializer = check(before: configuration.http1_1ConnectionDebugInitializer)
      configuration.http2ConnectionDebugInitializer = check(before: configuration.http2ConnectionDebugInitializer)
    }

    typealias Initializer = @Sendable (any Channel) -> EventLoopFuture<Void>

    private func check(before callers: Initializer?) -> Initializer {
      { [self] channel in
        channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
          guard let certificate, isHeld(by: try certificate.toDERBytes()) else {
            throw CertificateNameMismatch(name: name)
          }
        }
        .flatMap { callers?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
        .flatMapError { error in channel.close().flatMapThrowing { throw error } }
      }
    }

    /// RFC 9525 §6.3: a star stands for the whole first label, and nothing else; the subject's common name is not asked.
    private func isHeld(by der: [UInt8]) -> Bool {
      unsafe der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        guard let certificate = unsafe d2i_X509(nil, &start, buffer.count) else { return false }
        defer { unsafe X509_free(certificate) }
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        return unsafe X509_check_host(certificate, name.text, name.text.utf8.count, flags, nil) == 1
      }
    }
  }

  /// The server has proved to be another one: its certificate is not for the name that was asked for.
  ///
  /// Nothing of the request was sent.
  public struct CertificateNameMismatch: Error, Hashable, CustomStringConvertible {
    /// Who was asked for.
    public let name: HostName
    /// The name in words.
    public var description: String { "the server's certificate is not for \(name)" }
  }
#endif
