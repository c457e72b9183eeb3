// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// Whom a transfer trusts to certify names.
struct CurlTrust: Hashable, Sendable {
  /// A folder of certificates under their hashes: OpenSSL reads the one that it needs.
  var folder: String?
  /// A file of certificates, read whole.
  var file: String?
  /// Certificates in PEM form, used instead of `file`.
  var blob: [UInt8]?

  /// Where libcurl is told of them.
  struct Options {
    let folder: CURLoption
    let blob: CURLoption
    let file: CURLoption

    static let origin = Options(folder: CURLOPT_CAPATH, blob: CURLOPT_CAINFO_BLOB, file: CURLOPT_CAINFO)
    static let proxy = Options(
      folder: CURLOPT_PROXY_CAPATH, blob: CURLOPT_PROXY_CAINFO_BLOB, file: CURLOPT_PROXY_CAINFO)
  }

  /// Has a handle's transfers trust them; libcurl copies what it is told.
  func set(on handle: CurlHandle, _ options: Options = .origin) {
    handle.set(options.folder, folder)
    guard let blob else { return handle.set(options.file, file) }
    unsafe blob.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe directdns_setopt_blob(handle.pointer, options.blob, base, bytes.count)
    }
  }
}

/// Where transfers go and how they are secured: transfers of one pool share connections and a queue.
///
/// A pool is what it is by identity, so that finding its queue costs no comparison of certificates.
final class QueryPool: Sendable {
  /// `HOST:PORT:ADDRESS,…`: the addresses to connect to instead of looking the host up.
  let addresses: String?
  /// The host of `addresses` to connect to instead of the URL's own, in libcurl's form `::HOST:PORT`.
  ///
  /// The URL's is still the one that is verified. Connections are shared only among transfers with the same one.
  let connectTo: String?
  /// Scheme, host and port: pools of one origin follow each other.
  let origin: String
  let usesTLS: Bool
  let trust: CurlTrust
  /// Transfers in flight over HTTP/2; more wait in the order of their arrival.
  let width: Int
  /// Connections, and transfers in flight, over HTTP/1.1, which carries one at a time on each.
  let connections: Int

  init(
    origin: String, addresses: String? = nil, connectTo: String? = nil, usesTLS: Bool, trust: CurlTrust, width: Int,
    connections: Int = QueryPool.connections
  ) {
    self.origin = origin
    self.addresses = addresses
    self.connectTo = connectTo
    self.usesTLS = usesTLS
    self.trust = trust
    self.width = width
    self.connections = connections
  }

  /// Connections to a server that speaks HTTP/1.1, unless somebody says otherwise.
  static let connections = 32
}

/// One request, as the loop's thread needs it.
struct CurlRequest: Sendable {
  var pool: QueryPool
  var message: HTTPMessage
  /// Milliseconds for the whole of it, waiting in the queue included.
  var timeout: Int64
}
