// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// How an ``HTTPServer`` listens.
struct ServerConfiguration: Sendable {
  var identity: TLSIdentity?
  /// Shown instead to clients that ask for one of these names.
  var identities: [String: TLSIdentity] = [:]
  /// The authority, as PEM text, that has to vouch for a client's certificate.
  var clientAuthority: String?
  var offersTLS13 = true
  var httpVersions: [HTTPProtocolVersion]
  var maxConcurrentStreams = 100
  var address: IPAddress
  var port: Int
}
