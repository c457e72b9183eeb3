// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension HTTPTransportError {
  /// The error for one of libcurl's codes: what they mean is said in this file, and nowhere else.
  ///
  /// - Parameters:
  ///   - code: what libcurl returned.
  ///   - detail: its error text. Only quoted for TLS, where it says whether name, date or issuer is wrong; for other
  ///     errors it could contain parts of a URL.
  init(_ code: CURLcode, detail: String = "") {
    let text = unsafe String(cString: curl_easy_strerror(code))
    switch code {
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut
    case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      self = .connect(text)
    // These are about files of this machine, or what its OpenSSL cannot do, and come before anything is sent to the
    // server.
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CIPHER,
      CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
      self = .tlsSetup(detail.isEmpty ? text : detail.printable)
    // Since 8.16 the code for a client's key that cannot be read, or does not fit the certificate.
    case CURLE_BAD_FUNCTION_ARGUMENT where detail.hasPrefix("unable to set private key"):
      self = .tlsSetup(detail.printable)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CLIENTCERT,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
      // The text may quote a certificate, which is text from outside.
      self = .tls(detail.isEmpty ? text : detail.printable)
    case CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: self = .invalidRequest(text)
    // About a URL libcurl says `Protocol "x" not supported`; otherwise it means the HTTP version of the response.
    case CURLE_UNSUPPORTED_PROTOCOL where detail.hasPrefix("Protocol "): self = .invalidRequest(text)
    case CURLE_UNSUPPORTED_PROTOCOL:
      self = .malformedResponse("it is not one of HTTP 1.0, 1.1 or 2: check the URL's scheme and port")
    case CURLE_WEIRD_SERVER_REPLY: self = .malformedResponse("its head is malformed, which the server has to mend")
    // libcurl's decoder of chunks returns this for a malformed length, and before 8.1 its list of fields for a line that is
    // none.
    case CURLE_BAD_FUNCTION_ARGUMENT:
      self = .malformedResponse("its fields, chunks or lengths are malformed, which the server has to mend")
    // The same code as for a connection that was reset. The text ends with "in chunked-encoding"; since 8.6 that about a
    // length begins with "chunk hex-length" or "invalid chunk size".
    case CURLE_RECV_ERROR where detail.contains("chunk"):
      self = .malformedResponse("its chunks are malformed, which the server has to mend")
    // By TLS 1.3 the handshake is over for the client before the server has seen its certificate (RFC 8446 §2): that
    // one is missing, or not taken, comes in place of the response.
    case CURLE_RECV_ERROR where Self.isAboutClientCertificate(detail): self = .tls(detail.printable)
    case CURLE_BAD_CONTENT_ENCODING where detail.hasPrefix("Unrecognized"):
      self = .malformedResponse("libcurl does not know the content coding that it names\(Self.uncompressedAdvice)")
    case CURLE_BAD_CONTENT_ENCODING:
      self = .malformedResponse("its body is not in the content coding that it names\(Self.uncompressedAdvice)")
    case CURLE_FILESIZE_EXCEEDED: self = .bodyTooLarge
    case CURLE_ABORTED_BY_CALLBACK: self = .cancelled
    // When a response is followed by RST_STREAM while the request's body is still being sent (RFC 9113 §8.1), libcurl
    // before 8.1 throws the response away, and has no error text.
    case CURLE_HTTP2_STREAM where detail.isEmpty:
      self = .connectionLost(
        "the server ended the HTTP/2 stream before it had the whole body, and libcurl lost what it answered; "
          + "over HTTP/1.1 the answer arrives (httpVersion)")
    // Including a lack of memory (CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT): nothing is wrong with the request.
    default: self = .connectionLost(text)
    }
  }

  /// Whether a server has ended an HTTP/2 stream of which it wants no more (RFC 9113 §7), by libcurl's words.
  ///
  /// HAProxy and Apache Traffic Server do so behind the response to an upload that they refuse, where RFC 9113 §8.1 has
  /// NO_ERROR.
  static func endsStream(_ text: String) -> Bool { endsOfStreams.contains { text.hasSuffix($0) } }

  /// The last two are those of libcurl since 8.19, which tells whether it has ended the stream itself.
  private static let endsOfStreams = [
    " CANCEL (err 8)", " STREAM_CLOSED (err 5)", " reset by server (error 0x8 CANCEL)",
    " reset by server (error 0x5 STREAM_CLOSED)",
  ]

  /// What to do about a body that cannot be decompressed.
  fileprivate static let uncompressedAdvice = ": ask for it without compression (decompresses)"

  /// Whether what came was too large for libcurl's buffers: before 8.6 it calls that a lack of memory, since then it
  /// has a code of its own.
  static func isLackOfRoom(_ code: CURLcode) -> Bool { code == CURLE_OUT_OF_MEMORY || code == directdns_too_large }

  /// libcurl could not create a handle.
  static let noMemory = HTTPTransportError.connectionLost("libcurl has no memory for a transfer")
}

extension AttemptEnd {
  /// What one of libcurl's codes and its words say to the pools.
  ///
  /// - Parameters:
  ///   - code: what libcurl returned.
  ///   - detail: its error text.
  init(_ code: CURLcode, detail: @autoclosure () -> String) {
    let endsStream = code == CURLE_HTTP2_STREAM && HTTPTransportError.endsStream(detail())
    self = endsStream ? .streamEnded : AttemptEnd(code)
  }

  /// What one of libcurl's codes says to the pools, beside the error that it is.
  init(_ code: CURLcode) {
    self =
      switch code {
      case CURLE_OK: .complete
      case CURLE_SEND_ERROR: .sendFailed
      case CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .connectionEnded
      case CURLE_HTTP2: .http2
      default: .other
      }
  }
}

extension ConnectAttempt {
  func failure(_ code: CURLcode) -> HTTPTransportError {
    // Its trailers, which are made last: libcurl calls that a callback's decision.
    if code == CURLE_ABORTED_BY_CALLBACK, handle.lacksOption { return .noMemory }
    if let transfer, let lines {
      // libcurl limits the size of a line and of all lines, and reports that as a lack of memory.
      let isInLines = lines.isUsed && (!lines.isHeadComplete || !lines.trailers.isEmpty)
      if lines.isExceeded || isInLines && HTTPTransportError.isLackOfRoom(code) { return .fieldsTooLarge }
      // It keeps at most 64 MB of decoded bytes while the reader is behind (DYN_PAUSE_BUFFER in its dynbuf.h).
      if HTTPTransportError.isLackOfRoom(code), lines.isHeadComplete, transfer.request.message.decompresses {
        return .bodyTooLarge
      }
      // Where nothing is decompressed, it decodes what `Transfer-Encoding` names alone (RFC 9112 §7).
      if code == CURLE_BAD_CONTENT_ENCODING, !transfer.request.message.decompresses {
        return .malformedResponse("its transfer coding cannot be undone, which the server has to mend")
      }
      // Its decoders return this for bytes behind the end of the compressed data, such as a second member of gzip.
      if code == CURLE_WRITE_ERROR, lines.isHeadComplete, transfer.request.message.decompresses {
        return .malformedResponse("data follows what could be decompressed\(HTTPTransportError.uncompressedAdvice)")
      }
    }
    if CurlVersion.losesResponses, code == CURLE_HTTP2_STREAM, hasBody, !hasSentBody, lines?.isHeadComplete == false,
      HTTPTransportError.endsStream(handle.failureText)
    {
      return .connectionLost(
        "the server ended the HTTP/2 stream before it had the whole body, and if it has answered, libcurl lost that; "
          + "over HTTP/1.1 the answer arrives (httpVersion)")
    }
    if code == CURLE_COULDNT_CONNECT, let reason = localReason { return .noSocket(reason) }
    if let status = proxyStatus { return .refusedByProxy(status: status) }
    return HTTPTransportError(code, detail: handle.failureText)
  }

  /// The status with which a proxy has refused a tunnel; nil if it has not.
  private var proxyStatus: Int? {
    guard transfer?.request.route.proxy != nil else { return nil }
    let status = handle.number(CURLINFO_HTTP_CONNECTCODE)
    return status == 0 || (200..<300).contains(status) ? nil : status
  }

  /// Why there is no connection, if the reason lies with this machine.
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
