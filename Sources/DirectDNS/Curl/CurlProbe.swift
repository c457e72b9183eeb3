// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// One request on a connection of its own, and everything that libcurl can tell about that connection.
///
/// It needs no loop, and blocks; call it on a thread where that does no harm.
enum CurlProbe {
  struct Outcome: Sendable {
    var result: Result<HTTPReply, HTTPTransportError>
    var isHTTP2 = false
    /// From the beginning until the connection was established; nil if it never was.
    var connect: Duration?
    /// From the beginning until the TLS handshake was done; nil without TLS, or if it never was.
    var tls: Duration?
    var total: Duration
    /// Version and cipher, such as `TLSv1.3 / TLS_AES_256_GCM_SHA384`.
    var cipher: String?
    var date: String?
    /// The server's certificate as `Name:value`, such as `Issuer:C = US, O = Let's Encrypt, CN = R3`.
    var certificate: [String]
  }

  static func run(_ request: QueryRequest) -> Outcome {
    guard let easy = QueryHandle(request.route, sockets: CurlSockets()),
      easy.prepare(request, to: request.route.addresses.first)
    else {
      return Outcome(result: .failure(.noMemory), total: .zero, certificate: [])
    }
    easy.followTLS()
    easy.handle.set(CURLOPT_CERTINFO, 1)
    easy.handle.set(CURLOPT_TIMEOUT_MS, Int(request.timeout))
    let code = easy.perform()
    // Everything below is read from the handle.
    return withExtendedLifetime(easy) {
      Outcome(
        result: easy.fault(code).map { .failure($0) } ?? .success(easy.takeReply()),
        isHTTP2: easy.handle.isHTTP2, connect: time(CURLINFO_CONNECT_TIME_T, easy),
        tls: time(CURLINFO_APPCONNECT_TIME_T, easy),
        total: easy.handle.time(CURLINFO_TOTAL_TIME_T), cipher: easy.sessionLine.map(cipher), date: date(easy),
        certificate: certificate(easy))
    }
  }

  /// Version and cipher; later versions of libcurl add the group and the kind of key, which are left out.
  private static func cipher(_ line: String) -> String {
    line.split { $0 == " " || $0.isNewline }.dropFirst(3).prefix(3).joined(separator: " ")
  }

  private static func time(_ info: CURLINFO, _ easy: QueryHandle) -> Duration? {
    let time = easy.handle.time(info)
    return time > .zero ? time : nil
  }

  private static func date(_ easy: QueryHandle) -> String? {
    guard let date = unsafe directdns_header(easy.handle.pointer, "date") else { return nil }
    return unsafe String(cString: date)
  }

  private static func certificate(_ easy: QueryHandle) -> [String] {
    var lines: [String] = []
    var next = unsafe directdns_leaf_certificate(easy.handle.pointer)
    while let entry = unsafe next {
      if let data = unsafe entry.pointee.data { lines.append(unsafe String(cString: data)) }
      unsafe next = UnsafePointer(entry.pointee.next)
    }
    return lines
  }
}
