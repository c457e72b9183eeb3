// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Responses of the proxy itself: refusals, and its own few pages.
extension ClientHandler {
  /// Refuses a request.
  ///
  /// - Parameters:
  ///   - refusal: why.
  ///   - request: the request; nil if none could be read.
  ///   - access: its record for the access log, if there is one already.
  ///   - progress: how far its body was read; nil if not at all.
  ///   - head: the head of an invalid request, if it could be parsed.
  ///   - mayBeConnect: whether a request that could not be read may have been a CONNECT.
  func refuse(
    _ refusal: ProxyRefusal, _ request: ClientRequest?, _ access: ProxyAccess? = nil, _ progress: BodyProgress? = nil,
    head: MessageHead? = nil, mayBeConnect: Bool = false
  ) {
    var access = access ?? self.access(request?.isConnect == true ? .connect : .http, request?.origin, request)
    access.status = refusal.status
    access.error = refusal.error
    let closes = refusal.closes || request.map { !keeps($0) } ?? true
    // If the body can be read to its end, the connection goes on; otherwise the next request cannot be found.
    let isDrained =
      progress?.isOver ?? false || (progress?.passed ?? 0) == 0 && request?.hasDrainableBody ?? false
    let head = request?.head ?? head
    let isConnect = request?.isConnect ?? mayBeConnect
    let form = head.map { ProxyRefusal.Form($0, isConnect: isConnect) } ?? (isConnect ? .none : .text)
    let response = refusal.response(
      as: form, isToHEAD: head?.isToHEAD ?? false, closes: closes || !isDrained, date: loop.date)
    access.sent = response.body.utf8.count
    settings.ended(access, since: request?.began ?? headBegan, loop.shared.telemetry)
    write(ByteBuffer(string: response.head + response.body))
    flush()
    guard !isGone else { return }
    guard !closes, isDrained, let request else { return linger() }
    skipBody(progress ?? request.progress)
    resume()
  }

  /// Drops the rest of a body, and then waits for the next request.
  private func skipBody(_ progress: BodyProgress) {
    state = progress.isOver ? .head(since: nil) : .draining(progress, end: .now() + .seconds(10))
  }

  /// Serves one of the proxy's own pages; without side effects, since any web page can make a browser ask for it.
  func serveOwn(_ path: String, _ request: ClientRequest) {
    let isRead = request.method == "GET" || request.method == "HEAD"
    var access = access(.http, nil, request, isProbe: isRead && (path == "/live" || path == "/ready"))
    access.path = path
    guard isRead else {
      return refuse(
        ProxyRefusal(405, nil, "This is a proxy: ask it with the whole URL, or with CONNECT."), request, access)
    }
    if path == "/metrics", let metrics = settings.configuration.metrics, address?.isLoopback != false,
      // Otherwise a web page could read them by a name of its own that resolves to this address (DNS rebinding).
      request.isForLocalHost
    {
      return respond(
        200, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nCache-Control: no-store\r\n",
        body: metrics(), request, access)
    }
    switch path {
    case "/proxy.pac":
      guard let place = pacPlace else {
        return refuse(
          ProxyRefusal(
            404, nil, "There is no address that a PAC file could name: this proxy listens at Unix sockets alone."),
          request, access)
      }
      // As with the metrics: the names in it may be known to nobody else. Where other machines reach the proxy they may
      // know it by any name.
      guard !isReachedAtLoopback || request.isForLocalHost else {
        return refuse(
          ProxyRefusal(
            421, nil, "A website could read it by a name of its own that leads here: take http://\(place)/proxy.pac."),
          request, access)
      }
      respond(
        200, "Content-Type: application/x-ns-proxy-autoconfig\r\nCache-Control: no-store\r\n",
        body: ProxyAutoConfiguration(place: place, settings.configuration).text, request, access)
    case "/live":
      respond(200, "Content-Type: text/plain\r\nCache-Control: no-store\r\n", body: "live\n", request, access)
    case "/ready":
      let isReady = !loop.isDraining
      respond(
        isReady ? 200 : 503, "Content-Type: text/plain\r\nCache-Control: no-store\r\n",
        body: isReady ? "ready\n" : "ending\n", request, access)
    default:
      refuse(
        ProxyRefusal(404, nil, "This is a proxy: ask it with the whole URL, or with CONNECT HOST:PORT."), request,
        access)
    }
  }

  /// Whether this client has come by a loopback address, as a web page of this machine's browser would.
  private var isReachedAtLoopback: Bool {
    context?.channel.localAddress?.ipAddressValue?.unmapped.isLoopback == true
  }

  /// The address at which this client reached the proxy, or another one of the proxy; nil if there is none.
  private var pacPlace: String? {
    if let local = context?.channel.localAddress, let address = local.ipAddressValue?.unmapped, let port = local.port {
      return "\(ListenAddress.tcp(address, port: UInt16(port)))"
    }
    return settings.places.lazy.compactMap(\.place).first
  }

  func respond(_ status: Int, _ fields: String, body: String, _ request: ClientRequest, _ access: ProxyAccess) {
    let closes = !keeps(request) || !request.hasDrainableBody
    var access = access
    access.status = status
    access.sent = request.method == "HEAD" ? 0 : body.utf8.count
    settings.ended(access, since: request.began, loop.shared.telemetry)
    var text =
      "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Service Unavailable")\r\nDate: \(loop.date)\r\n\(fields)X-Content-Type-Options: nosniff\r\nContent-Length: \(body.utf8.count)\r\n"
    if closes { text += "Connection: close\r\n" }
    text += "\r\n"
    if request.method != "HEAD" { text += body }
    write(ByteBuffer(string: text))
    flush()
    guard !isGone else { return }
    guard !closes else { return linger() }
    skipBody(request.progress)
  }
}
