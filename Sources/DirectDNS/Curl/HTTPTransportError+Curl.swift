// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

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
    // Of files of this machine, or of what its OpenSSL cannot do; libcurl says so before it sends the server anything.
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CIPHER,
      CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
      self = .tlsSetup(detail.isEmpty ? text : detail.printable)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CLIENTCERT,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
      // It may repeat what a certificate says.
      self = .tls(detail.isEmpty ? text : detail.printable)
    case CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: self = .invalidRequest(text)
    // Of a URL it says `Protocol "x" not supported`; else it is about the version that a server answers by.
    case CURLE_UNSUPPORTED_PROTOCOL where detail.hasPrefix("Protocol "): self = .invalidRequest(text)
    case CURLE_UNSUPPORTED_PROTOCOL: self = .connectionLost("what came is no response of HTTP/1.0, HTTP/1.1 or HTTP/2")
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

extension ConnectAttempt {
  /// Why the transfer failed.
  func failure(_ code: CURLcode) -> HTTPTransportError {
    if let transfer, let lines {
      // libcurl has room for so much of one line, and for so many of them.
      let isInLines = lines.isUsed && (!lines.isHeadComplete || !lines.trailers.isEmpty)
      if lines.isExceeded || isInLines && HTTPTransportError.isLackOfRoom(code) { return .fieldsTooLarge }
      // It keeps what one piece decodes to while the reader is behind, 64 MB of it (DYN_PAUSE_BUFFER in its dynbuf.h).
      if HTTPTransportError.isLackOfRoom(code), lines.isHeadComplete, transfer.request.decompresses {
        return .bodyTooLarge
      }
      // Its decoders call it so when they get more than they want, such as a second member of gzip.
      if code == CURLE_WRITE_ERROR, lines.isHeadComplete, transfer.request.decompresses {
        return .connectionLost("something stands behind what could be decompressed")
      }
    }
    if code == CURLE_COULDNT_CONNECT, let reason = localReason { return .noSocket(reason) }
    if let status = proxyStatus { return .refusedByProxy(status) }
    return HTTPTransportError(code, detail: handle.failureText)
  }

  /// The status of a proxy that has refused a tunnel.
  private var proxyStatus: Int? {
    guard transfer?.request.route.proxy != nil else { return nil }
    let status = handle.number(CURLINFO_HTTP_CONNECTCODE)
    return status >= 300 ? status : nil
  }

  /// Why there is no connection, if this machine is the reason.
  private var localReason: String? {
    let number = socketError == 0 ? handle.number(CURLINFO_OS_ERRNO) : Int(socketError)
    switch CInt(truncatingIfNeeded: number) {
    case EMFILE: return LoopMailbox<CurlTransfers>.noDescriptors
    case ENFILE: return "this machine may open no further files (sysctl fs.file-max)"
    case EADDRNOTAVAIL: return "this machine has no address or port left to connect from"
    case ENOBUFS, ENOMEM: return "this machine has no memory for another connection"
    case EACCES, EPERM: return "this process is not allowed to connect there (a firewall of this machine, perhaps)"
    default: return nil
    }
  }
}
