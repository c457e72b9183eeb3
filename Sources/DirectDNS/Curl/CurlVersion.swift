// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The libcurl that is linked, and what it can do.
struct CurlVersion: Sendable, Hashable {
  let number: String
  /// The TLS library, such as `OpenSSL/3.0.17`.
  let tls: String?
  /// The HTTP/2 library's version; nil without HTTP/2.
  let http2: String?

  init() {
    let info = unsafe directdns_curl_version()
    number = unsafe info?.pointee.version.map { unsafe String(cString: $0) } ?? ""
    tls = unsafe info?.pointee.ssl_version.map { unsafe String(cString: $0) }
    let hasHTTP2 = unsafe (info?.pointee.features ?? 0) & CURL_VERSION_HTTP2 != 0
    let version = unsafe info?.pointee.nghttp2_version.map { unsafe String(cString: $0) }
    http2 = hasHTTP2 ? version ?? "" : nil
  }
}
