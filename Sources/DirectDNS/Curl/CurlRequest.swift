/// Whom a transfer trusts to certify names.
struct CurlTrust: Hashable, Sendable {
  /// A folder of certificates under their hashes: OpenSSL reads the one that it needs.
  var folder: String?
  /// A file of certificates, read whole.
  var file: String?
  /// Certificates in PEM form, used instead of `file`.
  var blob: CurlCertificates?
}

/// Certificates in PEM form, told apart by identity.
///
/// Every query looks its lane up: hashing the 200 KB of a system's bundle each time cost milliseconds.
final class CurlCertificates: Sendable, Hashable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func == (left: CurlCertificates, right: CurlCertificates) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Where transfers go and how they are secured: transfers of one lane share connections and a queue.
struct CurlLane: Hashable, Sendable {
  /// Scheme, host and port, for telling lanes apart.
  var origin: String
  /// `HOST:PORT:ADDRESS,…`: the addresses to connect to instead of looking the host up.
  var addresses: String?
  /// `::HOST:PORT`: the host of `addresses` to connect to instead of the URL's own, which is still the one that is
  /// verified. Connections are shared only among transfers with the same one.
  var connectTo: String?
  var usesTLS: Bool
  var trust: CurlTrust
  /// Transfers in flight; more wait in the order of their arrival.
  var width: Int
}

/// One request, as the loop's thread needs it.
struct CurlRequest: Sendable {
  var lane: CurlLane
  var url: String
  /// `Name: value`, one string a field.
  var fields: [String]
  /// Sent by POST; without it the request is a GET.
  var body: [UInt8]?
  /// Milliseconds for the whole of it, waiting in the queue included.
  var timeout: Int64
  /// The largest body that is read, in bytes.
  var bodyLimit: Int
  /// The response's header fields that the caller wants to see.
  var wantedFields: [String]
}

/// One response.
struct CurlResponse: Sendable {
  var status: Int
  /// The wanted header fields that the response had.
  var fields: [(name: String, value: String)]
  var body: [UInt8]
  /// The address that answered.
  var address: String
  /// 1 for HTTP/1.x, 2 for HTTP/2.
  var httpVersion: Int
}
