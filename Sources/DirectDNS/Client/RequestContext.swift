// SPDX-License-Identifier: Apache-2.0
/// What errors and logs say about a request: its origin, and never its path or query, which may hold secrets.
struct RequestContext: Sendable {
  private let url: WebURL
  private let timeouts: RequestTimeouts
  private let settings: ClientSettings
  let isRetryable: Bool

  init(_ url: WebURL, _ timeouts: RequestTimeouts, _ settings: ClientSettings, isRetryable: Bool) {
    self.url = url
    self.timeouts = timeouts
    self.settings = settings
    self.isRetryable = isRetryable
  }

  var origin: Origin { Origin(url) }

  /// The proxy that the request goes through, without path and user name; nil if there is none.
  private var proxy: Origin? { settings.proxies.proxy(for: url).map { Origin($0) } }

  /// The public error for a transfer's failure.
  ///
  /// - Parameters:
  ///   - failure: why there is no response, or only a part.
  ///   - inBody: whether the head had come already.
  ///   - earlier: the failure after which the request was to be sent once more, if there was one.
  ///   - others: why the other family's addresses are missing, if they are.
  /// - Returns: the error, with every address that was tried.
  func error(
    _ failure: TransferFailure, inBody: Bool = false, after earlier: TransferFailure? = nil, others: String? = nil
  ) -> DirectDNSError {
    let error = error(of: failure, inBody: inBody, after: earlier, others: others)
    return inBody || failure.facts.mayHaveReachedServer ? error.reachingServer : error
  }

  private func error(
    of failure: TransferFailure, inBody: Bool, after earlier: TransferFailure?, others: String?
  ) -> DirectDNSError {
    // What the caller has to know first is that the request may have arrived, and only then why it could not go out
    // again.
    let earlier = failure.facts.isObstacle ? earlier : nil
    let attempts = ((earlier?.facts.failedAddresses ?? []) + failure.facts.failedAddresses).map { failed in
      DirectDNSError.Attempt(server: failed.address.description, reason: failed.reason.text)
    }
    if let bodyFailure = failure.facts.bodyFailure {
      if let error = bodyFailure as? DirectDNSError { return error }
      return DirectDNSError(
        .bodyFailed, DirectDNSError.sentence("The body of the request to \(origin) failed: \(bodyFailure)"),
        underlying: bodyFailure)
    }
    if let forbidden = failure.facts.forbidden,
      let objection = settings.configuration.policy.objection(to: forbidden, host: origin.host)
    {
      return DirectDNSError(.addressForbidden, objection.description)
    }
    // What is missing explains a failure to connect alone.
    let missing = failure.facts.delivery == .mayHaveArrived || failure.facts.delivery == .inPart ? nil : others
    let end = describe(failure, inBody: inBody) + (missing.map { ", and \($0)" } ?? "")
    let text =
      if let earlier {
        "\(describe(earlier, inBody: false)); it was to be sent once more, and \(DirectDNSError.clause(of: end))"
      } else {
        end
      }
    return DirectDNSError(
      earlier?.facts.reason.code ?? (brokeTunnel(failure) == nil ? failure.facts.reason.code : .connectFailed),
      DirectDNSError.sentence(text), attempts: attempts,
      underlying: failure.facts.reason == .cancelled ? CancellationError() : failure.facts.reason)
  }

  /// What happened: a sentence without its period.
  private func describe(_ failure: TransferFailure, inBody: Bool) -> String {
    switch failure.facts.reason {
    case .timedOut: timedOut(failure)
    case .connect(let reason): unconnected(failure, reason)
    case .refusedByProxy(let status): refused(status)
    case .noSocket(let reason): "\(origin) could not be connected to: \(reason)"
    case .tls(let reason): "TLS with \(tlsPeers) failed: \(reason)\(tlsAdvice(reason))"
    case .tlsSetup(let reason):
      "TLS with \(tlsPeers) could not be set up on this machine: \(reason); check the client's certificate and key, "
        + "and the authorities' files"
    case .connectionLost(let reason): lost(failure, reason, inBody: inBody)
    case .malformedResponse(let reason): malformed(failure, reason, inBody: inBody)
    case .invalidRequest(let reason): "The request to \(origin) cannot be sent: \(reason)"
    case .bodyTooLarge:
      "The response of \(origin)\(way) decodes to more than can be kept: ask for it without compression"
    case .fieldsTooLarge:
      "\(origin)\(way) sent header fields and trailers of more than \(ResponseLines.limit) bytes: no more are read"
    case .cancelled: "The request to \(origin) was cancelled"
    case .shutDown: "The client was shut down"
    }
  }

  /// Whose TLS has failed: libcurl does not tell a proxy's from that of the origin behind it.
  private var tlsPeers: String {
    guard let proxy, proxy.scheme.isSecure else { return "\(origin)" }
    return origin.scheme.isSecure ? "the proxy \(proxy) or with \(origin)" : "the proxy \(proxy)"
  }

  /// The proxy whose own responses and connections a request without a tunnel gets; nil if there is none.
  private var plainProxy: Origin? { origin.scheme.isSecure ? nil : proxy }

  /// That a response comes through such a proxy, in which its fault may lie as well; empty if there is none.
  private var way: String { plainProxy.map { " through the proxy \($0)" } ?? "" }

  /// The response's body, for the beginning of a message.
  var body: String { "The body of \(origin)'s response\(way)" }

  private var peer: String { plainProxy.map { "the proxy \($0)" } ?? "\(origin)" }

  private func unconnected(_ failure: TransferFailure, _ reason: String) -> String {
    if let proxy { return "The proxy \(proxy) could not be connected to: \(reason)" }
    return "No address of \(origin.host) could be connected to at port \(origin.port): "
      + (failure.facts.failedAddresses.isEmpty ? reason : "\(failure.facts.failedAddresses.count) tried")
  }

  /// The proxy has refused the tunnel, so nothing has reached the origin.
  private func refused(_ status: Int) -> String {
    let advice =
      switch status {
      case 407: ": check the name and the password that it is given, as Basic, which it has to take"
      // libcurl 7.88 takes an interim response (RFC 9110 §15.2) for the proxy's last word.
      case ..<200: ", after which libcurl waits for nothing more: the proxy should answer CONNECT by its result alone"
      default: ""
      }
    return "The proxy \(proxy.map { "\($0) " } ?? "")opens no tunnel to \(origin): it answered \(status)\(advice)"
  }

  /// That nobody answers, after a time of ours if it was one.
  private func silent(for time: Duration?) -> String {
    let time = time.map { " within \($0)" } ?? ""
    guard let proxy else { return "No connection to \(origin)\(time): its addresses are silent" }
    return "No connection to \(origin) through the proxy \(proxy)\(time): it is silent"
  }

  private func timedOut(_ failure: TransferFailure) -> String {
    switch failure.facts.timer {
    case .connect: silent(for: timeouts.connect)
    // It was the kernel that gave up, by a time of its own.
    case nil where failure.facts.delivery == .notSent: silent(for: nil)
    case .firstByte:
      "\(origin)\(way) was silent for \(timeouts.firstByte) before the head of its response was whole "
        + "(timeouts.firstByte)"
    case .idle:
      "\(origin)\(way) has sent nothing more of its response for \(timeouts.idle ?? timeouts.total) (timeouts.idle)"
    case .total, nil:
      "The request to \(origin)\(way) was not done within \(timeouts.total) (timeouts.total)"
    }
  }

  /// The proxy whose connection ended before it had opened a tunnel: nothing has reached the origin.
  private func brokeTunnel(_ failure: TransferFailure) -> Origin? {
    guard case .connectionLost = failure.facts.reason, failure.facts.delivery == .notSent else { return nil }
    return proxy
  }

  private func lost(_ failure: TransferFailure, _ reason: String, inBody: Bool) -> String {
    if let proxy = brokeTunnel(failure) {
      return "The proxy \(proxy) ended the connection before it had opened a tunnel to \(origin): \(reason)"
    }
    if failure.facts.delivery == .inPart {
      return "\(origin)\(way) answered with success before it had the whole body of the request, and may have kept a "
        + "part of it: \(reason)"
    }
    if inBody { return "The connection to \(peer) ended in the middle of the body: \(reason)" }
    let advice =
      isRetryable || failure.facts.delivery != .mayHaveArrived
      ? "" : "; the request may have reached the server, so it was not sent again: retry it only if that is harmless"
    return "The connection to \(peer) ended before a response came: \(reason)\(advice)"
  }

  private func malformed(_ failure: TransferFailure, _ reason: String, inBody: Bool) -> String {
    if inBody { return "\(body) cannot be read: \(reason)" }
    // What refuses a tunnel, or talks nonsense instead, is the proxy.
    if failure.facts.delivery == .notSent, let proxy {
      return "The proxy \(proxy) sent a response that cannot be read: \(reason)"
    }
    let advice = isRetryable ? "" : "; the server may have acted on the request: retry it only if that is harmless"
    let sender = plainProxy.map { "The proxy \($0)" } ?? "\(origin)"
    return "\(sender) sent a response that cannot be read: \(reason)\(advice)"
  }

  private func tlsAdvice(_ reason: String) -> String {
    if HTTPTransportError.isAboutClientCertificate(reason) { return certificateAdvice }
    return switch TLSFault(reason) {
    case .expired?: "; if this machine's clock is right, whoever runs the server has to renew it"
    case .notYetValid?: "; check this machine's clock"
    case .otherName?: "; check the host in the URL, and that its addresses are those of the right server"
    case .untrusted?: "; add the authority that signed it to the trust store (trust)"
    case .notSpoken?: "; what answers there speaks no TLS: check the scheme and the port in the URL"
    case nil: ""
    }
  }

  /// What to do where a client's certificate is wanted, which is shown to the origin alone.
  private var certificateAdvice: String {
    let advice = "; show the server a certificate that it takes (identity)"
    guard let proxy, proxy.scheme.isSecure else { return advice }
    return (origin.scheme.isSecure ? advice : "")
      + "; a proxy is shown none: put stunnel, which can show one, before it"
  }
}

extension TransferFailure.Facts {
  /// Whether nothing was sent because of something on the way, and not because the caller has changed their mind.
  fileprivate var isObstacle: Bool {
    switch reason {
    case .cancelled, .shutDown: false
    default: delivery == .notSent
    }
  }
}
