// SPDX-License-Identifier: Apache-2.0
import NIOSSL

/// The TLS contexts of a server, by the name that the client asks for.
struct ServerTLS: Sendable {
  private let standard: NIOSSLContext
  private let named: [String: NIOSSLContext]

  /// - Returns: nil for a server without TLS.
  init?(_ configuration: ServerConfiguration) throws {
    guard let identity = configuration.identity else { return nil }
    standard = try Self.context(identity, configuration)
    var named: [String: NIOSSLContext] = [:]
    for (name, identity) in configuration.identities {
      named[name.lowercased()] = try Self.context(identity, configuration)
    }
    self.named = named
  }

  func context(for serverName: String?) -> NIOSSLContext {
    serverName.flatMap { named[$0.lowercased()] } ?? standard
  }

  private static func context(_ identity: TLSIdentity, _ configuration: ServerConfiguration) throws -> NIOSSLContext {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try identity.certificates.flatMap { text in
        try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)).map { .certificate($0) }
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKey.utf8), format: .pem)))
    tls.applicationProtocols = configuration.httpVersions.map(\.alpn)
    if !configuration.offersTLS13 { tls.maximumTLSVersion = .tlsv12 }
    if let authority = configuration.clientAuthority {
      tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
      tls.certificateVerification = .noHostnameVerification
    }
    return try NIOSSLContext(configuration: tls)
  }
}
