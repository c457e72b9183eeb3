internal import CDirectDNSCurl

/// One request on a connection of its own, with all that libcurl tells about that connection.
///
/// It blocks, so that it needs no loop; it runs on a thread where that does no harm.
@safe final class CurlProbe {
  struct Outcome: Sendable {
    var result: Result<CurlResponse, CurlError>
    /// Microseconds from the beginning until the connection stood; nothing if it never did.
    var connect: Int64?
    /// Microseconds from the beginning until TLS was done; nothing without TLS, or if it never was.
    var tls: Int64?
    /// Microseconds of all of it.
    var total: Int64
    /// Version and cipher, such as `TLSv1.3 / TLS_AES_256_GCM_SHA384`.
    var cipher: String?
    /// The server's certificate as `Name:value`, such as `Issuer:C = US, O = Let's Encrypt, CN = R3`.
    var certificate: [String]
  }

  private var cipher: String?

  private init() {}

  static func run(_ request: CurlRequest) -> Outcome {
    // Outlives the handle, whose end closes the connection.
    let sockets = CurlSockets()
    let probe = CurlProbe()
    defer { withExtendedLifetime((sockets, probe)) {} }
    guard let easy = CurlEasy(request.lane, sockets: sockets) else {
      return Outcome(
        result: .failure(.invalidRequest("libcurl has no memory for a transfer")), total: 0, certificate: [])
    }
    easy.prepare(request)
    return probe.perform(easy, request)
  }

  private func perform(_ easy: CurlEasy, _ request: CurlRequest) -> Outcome {
    unsafe directdns_setopt_long(easy.handle, CURLOPT_CERTINFO, 1)
    unsafe directdns_setopt_long(easy.handle, CURLOPT_TIMEOUT_MS, Int(request.timeout))
    unsafe directdns_setopt_trace(
      easy.handle,
      { _, type, text, size, context in
        if type == CURLINFO_TEXT, let context = unsafe context {
          unsafe Unmanaged<CurlProbe>.fromOpaque(context).takeUnretainedValue()
            .told(UnsafeRawBufferPointer(start: text, count: size))
        }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    let code = unsafe curl_easy_perform(easy.handle)
    var result: Result<CurlResponse, CurlError> = .success(easy.response(request.wantedFields))
    if easy.isOverLimit {
      result = .failure(.bodyTooLarge)
    } else if code != CURLE_OK {
      result = .failure(CurlError(code, detail: easy.failureText))
    }
    return Outcome(
      result: result, connect: time(CURLINFO_CONNECT_TIME_T, easy), tls: time(CURLINFO_APPCONNECT_TIME_T, easy),
      total: time(CURLINFO_TOTAL_TIME_T, easy) ?? 0, cipher: cipher, certificate: certificate(easy))
  }

  private func told(_ text: UnsafeRawBufferPointer) {
    let line = unsafe String(decoding: text, as: UTF8.self)
    let beginning = "SSL connection using "
    guard line.hasPrefix(beginning) else { return }
    // Later versions of libcurl add the group and the kind of key.
    let words = line.dropFirst(beginning.count).split { $0 == " " || $0.isNewline }
    cipher = words.prefix(3).joined(separator: " ")
  }

  private func time(_ info: CURLINFO, _ easy: CurlEasy) -> Int64? {
    var microseconds: curl_off_t = 0
    guard unsafe directdns_getinfo_offset(easy.handle, info, &microseconds) == CURLE_OK, microseconds > 0 else {
      return nil
    }
    return Int64(microseconds)
  }

  private func certificate(_ easy: CurlEasy) -> [String] {
    var lines: [String] = []
    var next = unsafe directdns_leaf_certificate(easy.handle)
    while let entry = unsafe next {
      if let data = unsafe entry.pointee.data { lines.append(unsafe String(cString: data)) }
      unsafe next = UnsafePointer(entry.pointee.next)
    }
    return lines
  }
}
