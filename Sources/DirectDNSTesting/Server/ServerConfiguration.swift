import DirectDNS

/// How an ``HTTPServer`` listens.
struct ServerConfiguration: Sendable {
  var identity: TLSIdentity?
  var httpVersions: [HTTPVersion]
  var maxConcurrentStreams = 100
  var address: IPAddress
  var port: Int
}
