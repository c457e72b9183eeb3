// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore
internal import Tracing

/// Opens a connection through another proxy: connects to it, and does the handshake for the target, all within the time
/// that connecting may take.
final class UpstreamConnection: Connector {
  private let loop: ProxyLoop
  private let settings: ProxySettings
  private let upstream: UpstreamProxy
  private let target: ForwardOrigin?
  private let via: ProxyVia
  private let finder: RouteFinder
  private var dialer: Dialer?
  private var handler: OriginHandler?
  private var timer: Scheduled<Void>?
  private var completion: ((Dialer.Outcome) -> Void)?
  /// Whether the failure concerns the target and not the proxy, so that another address may work.
  private(set) var isAboutTarget = false
  /// The addresses of the proxy that have closed a connection, and the last one's failure.
  private var closed: (addresses: [IPAddress], refusal: ProxyRefusal?)

  /// Creates one.
  ///
  /// - Parameters:
  ///   - loop: where it runs.
  ///   - settings: the settings of the request.
  ///   - upstream: the proxy.
  ///   - target: what it is asked to connect to; nil for requests with the whole URL.
  ///   - via: the proxies that the request has come through, including this one.
  ///   - context: the parent of its lookups' spans.
  ///   - closed: the addresses of the proxy that are not to be tried, and the failure if there are no others.
  init(
    _ loop: ProxyLoop, _ settings: ProxySettings, _ upstream: UpstreamProxy, to target: ForwardOrigin?,
    via: ProxyVia, below context: ServiceContext?,
    without closed: (addresses: [IPAddress], refusal: ProxyRefusal?) = ([], nil)
  ) {
    self.loop = loop
    self.settings = settings
    self.upstream = upstream
    self.target = target
    self.via = via
    self.closed = closed
    finder = RouteFinder(to: ForwardOrigin(upstream.host, port: upstream.port), loop, settings, below: context)
  }

  func start(_ completion: @escaping (Dialer.Outcome) -> Void) {
    self.completion = completion
    let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
    timer = loop.eventLoop.scheduleTask(in: TimeAmount(settings.limits.connectTimeout)) { bound.value.timedOut() }
    find()
  }

  /// Finds the proxy's addresses, and connects to one of those that were not of no use.
  private func find() {
    finder.findUpstream(without: closed.addresses) { [self] outcome in
      switch outcome {
      case .refused(let refusal): if let last = closed.refusal { finish(.failed(last)) } else { fail(refusal) }
      case .route(let route): connect(route)
      }
    }
  }

  func cancel() {
    completion = nil
    end()
    handler?.close()
    handler = nil
  }

  private func connect(_ route: ChosenRoute) {
    guard completion != nil else { return }
    let dialer = Dialer(loop, settings, ForwardOrigin(upstream.host, port: upstream.port), route, .any)
    self.dialer = dialer
    dialer.start { [self] outcome in
      let address = self.dialer?.winner
      self.dialer = nil
      switch outcome {
      case .failed(let refusal): fail(refusal)
      case .connected(let handler): startHandshake(handler, with: address)
      }
    }
  }

  private func startHandshake(_ handler: OriginHandler, with address: IPAddress?) {
    guard let target else {
      handler.hop = .proxy(upstream)
      return finish(.connected(handler))
    }
    handler.hop = .tunnel(upstream)
    self.handler = handler
    let handshake = UpstreamHandshake(upstream, to: target, headSize: settings.limits.headSize, via: via)
    handler.startHandshake(handshake) { [self] failure in
      self.handler = nil
      guard let failure else { return finish(.connected(handler)) }
      handler.close()
      var refusal = failure.refusal
      // What an address did that knew the target says more than that another one closes at once.
      if failure.isAboutAddress, isAboutTarget, let last = closed.refusal {
        refusal = last
      } else {
        isAboutTarget = failure.isAboutTarget
      }
      // It can come a second time with a name's other family.
      if failure.isAboutAddress, let address, !closed.addresses.contains(address) {
        closed.addresses.append(address)
        closed.refusal = refusal
        return find()
      }
      finish(.failed(refusal))
    }
  }

  private func timedOut() {
    guard completion != nil else { return }
    // It waits for the lookup of another address, or for one after what may have been the target's fault.
    if let last = closed.refusal, handler == nil, dialer == nil || isAboutTarget { return finish(.failed(last)) }
    isAboutTarget = handler != nil
    let what = handler == nil ? "answered" : "connected to \(target.map { "\($0)" } ?? "it")"
    handler?.close()
    handler = nil
    finish(
      .failed(
        ProxyRefusal(504, "connection_timeout", "The upstream proxy \(upstream) has not \(what) in time.")))
  }

  /// The proxy itself cannot be reached.
  private func fail(_ refusal: ProxyRefusal) {
    // It was reached at another address, where the target may have been the fault.
    if let last = closed.refusal, isAboutTarget { return finish(.failed(last)) }
    let others = closed.addresses.map { "\($0) closed the connection; " }.joined()
    let text =
      refusal.error == "proxy_loop_detected"
      ? "The upstream proxy \(upstream) is this proxy itself: give --upstream another one."
      : "The upstream proxy \(upstream) cannot be used: \(others)\(DirectDNSError.clause(of: refusal.message))."
    let (status, error): (Int, String?) =
      switch refusal.error {
      case "proxy_loop_detected"?: (403, refusal.error)
      // The other proxy's name is not looked up; nobody has denied the client's request.
      case "http_request_denied"?: (502, "proxy_configuration_error")
      default: (refusal.status, refusal.error)
      }
    finish(.failed(ProxyRefusal(status, error, text)))
  }

  private func finish(_ outcome: Dialer.Outcome) {
    end()
    let completion = completion
    self.completion = nil
    guard let completion else {
      if case .connected(let handler) = outcome { handler.close() }
      return
    }
    completion(outcome)
  }

  private func end() {
    timer?.cancel()
    timer = nil
    finder.cancel()
    dialer?.cancel()
    dialer = nil
  }
}
