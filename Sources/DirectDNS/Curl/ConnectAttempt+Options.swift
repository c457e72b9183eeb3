// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The options of an attempt's handle, set before it starts.
extension ConnectAttempt {
  /// The options that may differ between the requests of a pool, as they were set last.
  struct Applied {
    var url: String?
    var hasFields = false
    var hasTarget = false
    var waits = false
    /// In milliseconds; 0 stands for libcurl's default, which is 300 s (CURLOPT_CONNECTTIMEOUT(3)).
    var connectTimeout: Int64 = 0
  }

  /// Sets what all requests of a pool have in common: how connections are made and secured.
  ///
  /// libcurl remembers by address and port whether connections multiplex. Before 8.5 it therefore puts a request onto a
  /// busy HTTP/1.1 connection if another host at the same address speaks HTTP/2, and each request gets the other's
  /// response. So each pool has a scope of its own.
  func setTransfer(_ route: CurlRoute, scope: Int, _ transfers: CurlTransfers) {
    let settings = transfers.settings
    handle.setPool(of: self, usesTLS: route.usesTLS, scope: scope, transfers.sockets)
    handle.setShare(transfers.share)
    handle.set(CURLOPT_PATH_AS_IS, 1)
    switch route.version {
    case .http1: handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    case .automatic:
      handle.set(CURLOPT_HTTP_VERSION, Int(route.usesTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    case .http2:
      handle.set(
        CURLOPT_HTTP_VERSION, Int(route.usesTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
    }
    if route.maySpeakHTTP2 { handle.set(CURLOPT_BUFFERSIZE, Self.receiveBuffer) }
    if route.servesOnce {
      handle.set(CURLOPT_FRESH_CONNECT, 1)
      handle.set(CURLOPT_FORBID_REUSE, 1)
    }
    if let proxy = route.proxy {
      handle.set(CURLOPT_PROXY, proxy.url)
      handle.set(CURLOPT_NOPROXY, "")
      handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      resolve = CurlList(proxy.resolvedHost.map { [$0.resolveEntry] } ?? [])
      handle.set(CURLOPT_RESOLVE, resolve)
    } else {
      handle.setNoProxy()
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

  /// Sets which connection an attempt wants.
  func setConnection(_ request: TransferRequest, waits: Bool) {
    // With this option it waits for a connection that another transfer is opening, instead of opening its own.
    if applied.waits != waits {
      applied.waits = waits
      handle.set(CURLOPT_PIPEWAIT, waits ? 1 : 0)
    }
    // The pool has timers of its own: libcurl's must not be first, since it does not say which timeout it was. Mostly
    // its default is long enough, for which it sets no timer.
    let limit = request.terms.connectTimeout
    let connectTimeout = limit > 60_000 ? limit + 60_000 : 0
    if applied.connectTimeout != connectTimeout {
      applied.connectTimeout = connectTimeout
      handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeout))
    }
    guard request.route.proxy == nil else { return }
    let wanted = (address: address, port: request.target.port)
    if target.map({ $0 != wanted }) ?? true {
      target = wanted
      connectTo = CurlList(["::\(address?.bracketed ?? ""):\(request.target.port)"])
    } else if applied.hasTarget {
      return
    }
    applied.hasTarget = true
    handle.set(CURLOPT_CONNECT_TO, connectTo)
  }

  /// Sets the client's certificate, for the origin only: a proxy would have an option of its own
  /// (CURLOPT_PROXY_SSLCERT).
  private func setIdentity(_ settings: CurlTransferSettings) {
    guard let certificate = settings.certificate else { return }
    handle.set(CURLOPT_SSLCERT, certificate)
    handle.set(CURLOPT_SSLKEY, settings.key ?? certificate)
    // An empty password if there is none: otherwise OpenSSL would ask for it on the terminal, and block the whole loop.
    handle.set(CURLOPT_KEYPASSWD, settings.keyPassword ?? "")
  }

  func setRequest(_ request: TransferRequest) {
    if applied.url != request.message.url {
      applied.url = request.message.url
      handle.setURL(request.message.url, isSentWhole: request.route.proxy != nil)
    }
    if fieldLines != request.message.fields {
      fieldLines = request.message.fields
      fields = CurlList(lines: fieldLines)
      applied.hasFields = false
    }
    if !applied.hasFields {
      applied.hasFields = true
      handle.set(CURLOPT_HTTPHEADER, fields)
    }
    guard !request.isPlain else { return }
    if request.message.decompresses { handle.set(CURLOPT_ACCEPT_ENCODING, "") }
    switch request.body {
    case .none: if request.message.method == "HEAD" { handle.set(CURLOPT_NOBODY, 1) }
    case .bytes(let bytes) where request.isInline:
      // libcurl sends it together with the head.
      handle.setBody(bytes)
    case .bytes(let bytes): setUpload(request, length: Int64(bytes.count))
    case .pulled(let upload): setUpload(request, length: upload.length)
    }
    // For the other options libcurl chooses a method by itself, which is not always the right one.
    guard request.message.method != "HEAD" else { return }
    if case .none = request.body, request.message.method == "GET" { return }
    handle.set(CURLOPT_CUSTOMREQUEST, request.message.method)
  }

  private func setUpload(_ request: TransferRequest, length: Int64?) {
    handle.set(CURLOPT_UPLOAD, 1)
    let sized = request.message.trailers.isEmpty ? length : nil
    unsafe directdns_setopt_offset(handle.pointer, CURLOPT_INFILESIZE_LARGE, curl_off_t(sized ?? -1))
    handle.set(CURLOPT_UPLOAD_BUFFERSIZE, Self.uploadBuffer)
  }

  /// How many bytes of a response libcurl takes from an HTTP/2 connection at a time: as many as one read of it brings
  /// (`H2_BUFSIZE`, 32 KiB), and a head of 16 KiB.
  ///
  /// Before 8.1 what finds no room there waits, and with it the end of its frame: if that is the last frame, and no
  /// `Content-Length` tells where the body ends, the response goes on until the server says something else. With the
  /// default, 16 KiB, that happens to a head and a body that come at once and are larger together. What gzip makes of
  /// this many bytes stays below the 64 MB that libcurl keeps of them for a slow reader.
  private static let receiveBuffer = 48 * 1024

  /// How many bytes of a body libcurl asks for at a time: as many as the kernel takes beyond what it has sent, and twice
  /// libcurl's default.
  private static let uploadBuffer = Int(CurlTransfers.unsentLimit)
}
