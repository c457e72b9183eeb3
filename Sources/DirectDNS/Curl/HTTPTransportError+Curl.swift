// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

extension HTTPTransportError {
  /// What a code of libcurl's means: they are mapped here and nowhere else.
  ///
  /// - Parameters:
  ///   - code: what libcurl returned.
  ///   - detail: what it said besides. Quoted for TLS alone, where it tells name, date and issuer apart; elsewhere it
  ///     could hold parts of a URL.
  init(_ code: CURLcode, detail: String = "") {
    let text = unsafe String(cString: curl_easy_strerror(code))
    switch code {
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut
    case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      self = .connect(text)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED:
      // It may repeat what a certificate says.
      self = .tls(detail.isEmpty ? text : detail.printable)
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION:
      self = .invalidRequest(text)
    case CURLE_WEIRD_SERVER_REPLY: self = .connectionLost("what came is no response of HTTP")
    // Its decoder of chunks says so of a length that is none.
    case CURLE_BAD_FUNCTION_ARGUMENT: self = .connectionLost("its chunks or its lengths are malformed")
    case CURLE_BAD_CONTENT_ENCODING: self = .connectionLost("it cannot be decompressed")
    case CURLE_FILESIZE_EXCEEDED: self = .bodyTooLarge
    case CURLE_ABORTED_BY_CALLBACK: self = .cancelled
    // libcurl before 8.1 throws away a response that came with RST_STREAM (RFC 9113 §8.1) while the body was on its
    // way, and has no words for it.
    case CURLE_HTTP2_STREAM where detail.isEmpty:
      self = .connectionLost(
        "the server ended the HTTP/2 stream before it had the whole body, and libcurl lost what it answered; "
          + "over HTTP/1.1 the answer arrives (dnsctl: --http1.1)")
    // A lack of memory too (CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT): nothing is wrong with the request.
    default: self = .connectionLost(text)
    }
  }

  /// Whether libcurl had no room for what came: it has called that a lack of memory, and has a code of its own for it
  /// since 8.6, for too many fields as well.
  static func isLackOfRoom(_ code: CURLcode) -> Bool { code == CURLE_OUT_OF_MEMORY || code == directdns_too_large }

  /// libcurl could not even make a handle.
  static let noMemory = HTTPTransportError.connectionLost("libcurl has no memory for a transfer")
}
