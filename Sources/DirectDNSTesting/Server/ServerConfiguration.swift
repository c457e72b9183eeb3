// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// How an ``HTTPServer`` listens.
struct ServerConfiguration: Sendable {
  var identity: TLSIdentity?
  /// Used for clients that ask for one of these names in SNI.
  var identities: [String: TLSIdentity] = [:]
  /// The authority, as PEM text, that must have issued a client's certificate.
  var clientAuthority: String?
  var offersTLS13 = true
  var httpVersions: [HTTPProtocolVersion]
  var maxConcurrentStreams = 100
  /// The bytes that a client may send ahead on an HTTP/2 stream of the first connection; nil for as many as on others.
  var firstStreamWindow: Int?
  var address: IPAddress
  var port: Int
}
