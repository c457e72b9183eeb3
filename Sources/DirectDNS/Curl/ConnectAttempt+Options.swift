// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// What an attempt's handle is told before it starts.
extension ConnectAttempt {
  /// What was set last on its handle of what differs between the requests of a pool.
  struct Applied {
    var url: String?
    var fields: [UInt8] = []
    var target: (address: IPAddress?, port: UInt16)?
    var waits = false
    var connectTimeout: Int64?
  }

  /// How the connections of a pool are made and secured.
  ///
  /// libcurl knows connections by address and port, and whether those carry several requests at a time by what one of
  /// them has said: before 8.5 it puts a request onto a busy connection of HTTP/1.1 where another host at that address,
  /// or another request to this one, speaks HTTP/2, and each gets the other's response. So each pool's have a scope of
  /// their own, which is part of that key. The kernel heeds it for link-local addresses alone, of which none may be
  /// reached without a zone: the numbers are those of no interface.
  func setTransfer(_ route: CurlRoute, scope: Int, _ settings: CurlTransferSettings, _ share: CurlShare) {
    handle.set(CURLOPT_ADDRESS_SCOPE, 1 << 24 + scope % (1 << 24))
    handle.setOwner(self)
    if let share = unsafe share.handle { unsafe handle.setPointer(CURLOPT_SHARE, share) }
    handle.set(CURLOPT_NOSIGNAL, 1)
    handle.set(CURLOPT_PROTOCOLS_STR, route.usesTLS ? "https" : "http")
    handle.set(CURLOPT_PATH_AS_IS, 1)
    handle.set(CURLOPT_MAXLIFETIME_CONN, 600)
    switch route.version {
    case .http1: handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    case .automatic:
      handle.set(CURLOPT_HTTP_VERSION, Int(route.usesTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    case .http2:
      handle.set(
        CURLOPT_HTTP_VERSION, Int(route.usesTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
    }
    if let proxy = route.proxy {
      handle.set(CURLOPT_PROXY, proxy.url)
      handle.set(CURLOPT_NOPROXY, "")
      handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      resolve = CurlList(proxy.resolvedHost.map { [$0.resolveEntry] } ?? [])
      handle.set(CURLOPT_RESOLVE, resolve)
    } else {
      handle.set(CURLOPT_PROXY, "")
      // Or libcurl would look for `no_proxy` in the environment, each time.
      handle.set(CURLOPT_NOPROXY, "*")
    }
    let version = Int(settings.requiresTLS13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2)
    if route.usesTLS {
      settings.trust.set(on: handle)
      handle.set(CURLOPT_SSLVERSION, version)
    }
    if route.proxy != nil {
      settings.trust.set(on: handle, .proxy)
      handle.set(CURLOPT_PROXY_SSLVERSION, version)
    }
    if route.usesTLS, route.showsIdentity { setIdentity(settings) }
  }

  /// Which connection an attempt wants.
  func setConnection(_ request: TransferRequest, waits: Bool) {
    // One whose connection is being opened by another waits for that, instead of opening one of its own.
    if applied.waits != waits {
      applied.waits = waits
      handle.set(CURLOPT_PIPEWAIT, waits ? 1 : 0)
    }
    if applied.connectTimeout != request.terms.connectTimeout {
      applied.connectTimeout = request.terms.connectTimeout
      // Ours are the timers; libcurl's would end a transfer without a word about which of them it was.
      handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(request.terms.connectTimeout) + 60_000)
    }
    guard request.route.proxy == nil else { return }
    if let before = applied.target, before == (address, request.port) { return }
    applied.target = (address, request.port)
    connectTo = CurlList(["::\(address?.bracketed ?? ""):\(request.port)"])
    handle.set(CURLOPT_CONNECT_TO, connectTo)
  }

  /// For the origin alone: a proxy has an option of its own (CURLOPT_PROXY_SSLCERT).
  private func setIdentity(_ settings: CurlTransferSettings) {
    guard let certificate = settings.certificate else { return }
    handle.set(CURLOPT_SSLCERT, certificate)
    handle.set(CURLOPT_SSLKEY, settings.key ?? certificate)
    // An empty one where there is none: OpenSSL would ask for it on the process's terminal, or read it from standard input,
    // and everything would wait for the answer.
    handle.set(CURLOPT_KEYPASSWD, settings.keyPassword ?? "")
  }

  /// What is sent.
  func setRequest(_ request: TransferRequest) {
    if applied.url != request.url {
      applied.url = request.url
      handle.set(CURLOPT_URL, request.url)
    }
    if applied.fields != request.fields {
      applied.fields = request.fields
      fields = CurlList(lines: request.fields)
      handle.set(CURLOPT_HTTPHEADER, fields)
    }
    guard !request.isPlain else { return }
    if request.decompresses { handle.set(CURLOPT_ACCEPT_ENCODING, "") }
    switch request.body {
    case .none: if request.method == "HEAD" { handle.set(CURLOPT_NOBODY, 1) }
    case .bytes(let bytes) where request.isInline:
      // Sent in one piece with the head.
      handle.setBody(bytes)
    case .bytes(let bytes): setUpload(request, length: Int64(bytes.count))
    case .pulled(let upload): setUpload(request, length: upload.length)
    }
    // What libcurl would call the request by itself is another method, or the same.
    guard request.method != "HEAD" else { return }
    if case .none = request.body, request.method == "GET" { return }
    handle.set(CURLOPT_CUSTOMREQUEST, request.method)
  }

  private func setUpload(_ request: TransferRequest, length: Int64?) {
    handle.set(CURLOPT_UPLOAD, 1)
    let sized = request.trailers.isEmpty ? length : nil
    unsafe directdns_setopt_offset(handle.pointer, CURLOPT_INFILESIZE_LARGE, curl_off_t(sized ?? -1))
    handle.set(CURLOPT_UPLOAD_BUFFERSIZE, 128 * 1024)
  }
}
