// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The certificate authorities that a transfer trusts.
struct CurlTrust: Hashable, Sendable {
  /// A folder of certificates named by their hashes, of which OpenSSL reads the one that it needs.
  var folder: String?
  /// A file of certificates, which is read as a whole.
  var file: String?
  /// Certificates in PEM form, used instead of `file`.
  var blob: [UInt8]?

  /// The options of libcurl for them.
  struct Options {
    let folder: CURLoption
    let blob: CURLoption
    let file: CURLoption

    static let origin = Options(folder: CURLOPT_CAPATH, blob: CURLOPT_CAINFO_BLOB, file: CURLOPT_CAINFO)
    static let proxy = Options(
      folder: CURLOPT_PROXY_CAPATH, blob: CURLOPT_PROXY_CAINFO_BLOB, file: CURLOPT_PROXY_CAINFO)
  }

  /// Makes a handle's transfers trust them; libcurl copies the values.
  func set(on handle: CurlHandle, _ options: Options = .origin) {
    handle.set(options.folder, folder)
    guard let blob else { return handle.set(options.file, file) }
    unsafe blob.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe directdns_setopt_blob(handle.pointer, options.blob, base, bytes.count)
    }
  }
}

/// Where DNS requests go, and how they are secured: requests of one pool share connections and a queue.
///
/// Pools are compared by identity, so that no certificates have to be compared for each request.
final class QueryPool: Sendable {
  /// The addresses to connect to, so that libcurl does not look up the URL's host.
  ///
  /// The certificate is still checked for that host. Without addresses, the host is one itself.
  let addresses: [IPAddress]
  /// The port at those addresses.
  let port: UInt16
  /// Tells the pool's connections from those of others: they are shared within one scope only.
  let scope: Int
  /// Scheme, host and port.
  let origin: String
  let usesTLS: Bool
  let trust: CurlTrust
  /// The most transfers in flight over HTTP/2; others wait in order.
  let width: Int
  /// The most connections over HTTP/1.1, and thus transfers in flight, since each carries one at a time.
  let connections: Int

  init(
    origin: String, addresses: [IPAddress] = [], port: UInt16 = 0, scope: Int = 0, usesTLS: Bool, trust: CurlTrust,
    width: Int, connections: Int = QueryPool.connections
  ) {
    self.origin = origin
    self.addresses = addresses
    self.port = port
    self.scope = scope
    self.usesTLS = usesTLS
    self.trust = trust
    self.width = width
    self.connections = connections
  }

  /// The default of ``connections``.
  static let connections = 32
}

/// One request, as the loop's thread needs it.
struct CurlRequest: Sendable {
  var pool: QueryPool
  var message: HTTPMessage
  /// Milliseconds for the whole request, including the time in the queue.
  var timeout: Int64
}
