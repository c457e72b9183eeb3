// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The libcurl that is linked, and its features.
struct CurlVersion: Sendable, Hashable {
  let number: String
  /// The TLS library, such as `OpenSSL/3.0.17`.
  let tls: String?
  /// The version of the HTTP/2 library; nil without HTTP/2.
  let http2: String?

  /// The version as libcurl compares it, a byte for each part; 0 if it is not known.
  private static let versionNumber = unsafe directdns_curl_version()?.pointee.version_num ?? 0

  /// Whether a handle that has received header fields can receive those of an HTTP/1 response.
  ///
  /// Before 8.1.1 it cannot: libcurl still knows the last field of the response before, whose memory it has freed, and
  /// appends to it a first line that begins with a blank (curl#11101). Over HTTP/2 no line is ever folded.
  static let forgetsFields = versionNumber >= 0x08_0101

  /// Whether it can use a connection of plain HTTP/2 more than once.
  static let reusesPlainHTTP2 = versionNumber >= 0x08_0000

  /// Whether it throws away what it has received of a response over HTTP/2 when the server ends the stream while the
  /// request's body is being sent.
  static let losesResponses = versionNumber < 0x08_0100

  /// Whether it calls it a failure to send, without saying of what, when the end of the request ends a stream of HTTP/2
  /// behind a complete response.
  static let failsAtEndOfStream = versionNumber >= 0x08_0300

  /// Whether it closes a socket that is not connected yet without telling (CURLOPT_CLOSESOCKETFUNCTION): where a
  /// transfer is given up while it connects, or another address of a proxy has connected first (curl#11439).
  static let closesUntold = (0x07_5800..<0x08_0200).contains(versionNumber)

  /// Whether it keeps connections to a proxy without a tunnel for the requests of any address scope
  /// (`url_match_destination` compares the proxy alone).
  static let mixesProxied = versionNumber >= 0x08_1500

  /// Whether the limit of a host's connections (CURLMOPT_MAX_HOST_CONNECTIONS) counts all that lead to an address, of
  /// whatever address scope.
  static let countsByAddress = versionNumber >= 0x08_1500

  init() {
    let info = unsafe directdns_curl_version()
    number = unsafe info?.pointee.version.map { unsafe String(cString: $0) } ?? ""
    tls = unsafe info?.pointee.ssl_version.map { unsafe String(cString: $0) }
    let hasHTTP2 = unsafe (info?.pointee.features ?? 0) & CURL_VERSION_HTTP2 != 0
    let version = unsafe info?.pointee.nghttp2_version.map { unsafe String(cString: $0) }
    http2 = hasHTTP2 ? version ?? "" : nil
  }
}
