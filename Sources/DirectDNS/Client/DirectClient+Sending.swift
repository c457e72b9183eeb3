// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Logging

/// One hop of a request: it is looked up, judged and sent, and retried once if that does no harm.
extension DirectClient {
  /// Sends one hop of a request, with a span and metrics if anybody collects them.
  nonisolated(nonsending) func send(
    _ request: ClientRequest, _ body: RequestBody, _ call: Call, hop: Int
  ) async throws(DirectDNSError) -> DirectResponse {
    let url = request.url
    guard url.scheme == .http || url.scheme == .https else {
      throw DirectDNSError(
        .invalidRequest, "A request of scheme \(url.scheme.rawValue) cannot be sent: use http or https.")
    }
    call.options.observer?(.sending(url))
    guard telemetry.isActive else { return try await sendAndRetry(request, body, call, watch: nil) }
    var request = request
    let watch = telemetry.begin(request.method, url, &request.fields, hop: hop)
    do {
      let response = try await sendAndRetry(request, body, call, watch: watch)
      let connection = response.connection
      watch.end(
        status: response.status.code, version: connection.httpVersion.description, address: connection.remoteAddress,
        port: connection.remotePort, isReused: connection.isReused)
      return response
    } catch {
      watch.end(error)
      throw error
    }
  }

  nonisolated(nonsending) private func sendAndRetry(
    _ request: ClientRequest, _ body: RequestBody, _ call: Call, watch: ClientTelemetry.Watch?
  ) async throws(DirectDNSError) -> DirectResponse {
    let length = try BodyLength.check(request, body)
    let method = request.method
    let target = try await target(of: request, call, watch)
    let canBeReplayed = body.kind != .oneShot
    let context = RequestContext(
      request.url, call.timeouts, call.settings,
      isRetryable: canBeReplayed && (call.options.isSafeToRetry || method.isIdempotent))
    var past = Past()
    defer { target.others?.cancel() }
    while true {
      let spans = watch?.connecting(to: target.url.effectivePort)
      let sent = target.transferRequest(
        method, body, length: length, call, spans, isRetryable: context.isRetryable && !past.history.hasRetried)
      let size = sent.message.url.utf8.count + sent.message.fields.count
      guard size <= Self.headLimit else {
        spans?.endAll()
        throw DirectDNSError(
          .invalidRequest,
          "The request's URL and header fields have \(size) bytes, and \(Self.headLimit) are the most.")
      }
      let loop = loop(for: sent.route)
      // Read before the transfer starts: from then on this part of it is the loop's thread's.
      let sentBody = sent.body
      let transfer = CurlTransfer(sent)
      let result = await perform(transfer, on: loop)
      spans?.endAll()
      switch result {
      case .success(let head):
        let response = try response(head, to: method, BodyReader(transfer, loop, context), target, call)
        // Once it has the body, the server may have acted on it, whatever it says of the expectation.
        guard sent.terms.expectsContinue, response.status == .expectationFailed,
          !head.hasSentBody || sent.terms.isRetryable, sentBody.withdraw()
        else {
          return response
        }
        response.body.discard()
        target.fields[.expect] = nil
        if head.connection.wasRetried { past.history.noteRetried() }
        past.isAnswered = true
        telemetry.retries(.expectation)
        call.options.observer?(.retrying(reason: "the server refused the expectation"))
      case .failure(let failure):
        let reason = try retry(target, after: failure, canBeReplayed: canBeReplayed, context, &past)
        call.options.observer?(.retrying(reason: reason))
      }
    }
  }

  /// What one hop has been through, over all transfers of it.
  private struct Past {
    var history = RetryRule.History()
    /// The failure that it was retried after, unless the server had refused it unprocessed.
    var earlier: TransferFailure?
    /// Whether a server has answered it already.
    var isAnswered = false
  }

  /// Has a hop sent once more after a failure, by another address if its connection was lost.
  ///
  /// - Returns: why, in words.
  /// - Throws: the request's error, if it may not be sent again.
  private func retry(
    _ target: RequestTarget, after failure: TransferFailure, canBeReplayed: Bool, _ context: RequestContext,
    _ past: inout Past
  ) throws(DirectDNSError) -> String {
    if !failure.facts.isAnothers { report(failure.facts.failedAddresses, context) }
    guard past.history.allows(failure, isRetryable: context.isRetryable, canBeReplayed: canBeReplayed) else {
      let error = context.error(failure, after: past.earlier, others: target.others?.failure)
      throw past.history.hasRetried || past.isAnswered ? error.reachingServer : error
    }
    let wasRefused = failure.facts.delivery == .refused
    telemetry.retries(wasRefused ? .refused : .connectionLost)
    let reason = wasRefused ? "refused unprocessed" : failure.facts.reason.text
    logger.debug("sent once more", metadata: ["origin": "\(context.origin)", "reason": "\(reason)"])
    if !wasRefused {
      past.earlier = failure
      target.moveToEnd(failure.facts.address)
    }
    return reason
  }

  /// The largest head in bytes: libcurl refuses more than 1 MiB (`DYN_HTTP_REQUEST`), and calls that a lack of memory.
  private static let headLimit = 1_000_000

  private func loop(for route: CurlRoute) -> Loop<CurlTransfers> {
    loops.count == 1 ? loops[0] : loops[Int(UInt(bitPattern: route.hashValue) % UInt(loops.count))]
  }

  nonisolated(nonsending) private func perform(
    _ transfer: CurlTransfer, on loop: Loop<CurlTransfers>
  ) async -> Result<TransferHead, TransferFailure> {
    inFlight.enterOnceMore()
    transfer.onEnd = leave
    if case .pulled(let upload) = transfer.request.body {
      upload.setWake { [weak loop, weak transfer] in
        if let transfer { _ = loop?.post(.resume(transfer)) }
      }
    }
    transfer.request.target.others?.setReceiver { [weak loop, weak transfer] addresses in
      if let transfer { _ = loop?.post(.join(transfer, addresses)) }
    }
    await withTaskCancellationHandler {
      await transfer.waitForHead {
        if !loop.post(.start(transfer)) { transfer.deliver(end: .failure(TransferFailure(loop.refusal))).resume() }
      }
    } onCancel: {
      // If the task was cancelled before, this comes before the start; the mailbox keeps that order.
      _ = loop.post(.cancel(transfer))
    }
    return transfer.takeHead()
  }

  // MARK: Before sending

  /// Finds out where a request may go: its addresses are looked up, and judged by the policy.
  nonisolated(nonsending) private func target(
    of request: ClientRequest, _ call: Call, _ watch: ClientTelemetry.Watch?
  ) async throws(DirectDNSError) -> RequestTarget {
    let url = request.url
    let rewriter = call.settings.rewriter
    let host = url.host
    try rewriter.policy.check(host)
    let proxy = call.settings.proxies.proxy(for: url)
    let target = RequestTarget(url, host, request.fields.forOrigin(of: url))
    var name: HostName?
    switch host {
    case .address(let address): target.addresses = [address]
    case .name:
      let found = try HostName(host)
      try await lookUp(found, for: target, call, watch, throughProxy: proxy != nil)
      name = found
    }
    target.proxy = try await proxyRoute(proxy, call)
    do throws(DirectDNSError) {
      let addresses = target.addresses
      try take(rewriter.decide(target.fields, url, host, name, addresses, throughProxy: proxy != nil), target, call)
    } catch {
      let asksProviders = name.map { resolver.configuration.route(for: $0) == .providers } ?? false
      throw target.namingSource(in: error, rewriter.policy, asksProviders: asksProviders)
    }
    return target
  }

  /// Leaves the allowed addresses in a request's target, which has had all of them, and sees to its `originalUrl`.
  private func take(_ decision: RequestRewriter.Decision, _ target: RequestTarget, _ call: Call) throws(DirectDNSError)
  {
    switch decision {
    case .direct(_, let allowed):
      // The field is the client's own: a value from the caller is never sent.
      if call.settings.configuration.forwardsOriginalURL {
        target.fields[.originalURL] = target.original.text(fragment: false)
      } else if !target.fields.isEmpty {
        target.fields[.originalURL] = nil
      }
      target.answer = target.addresses
      target.addresses = allowed
    case .bypassed(let reason):
      if reason != .alreadyRewritten, !target.fields.isEmpty { target.fields[.originalURL] = nil }
      target.addresses = try call.settings.rewriter.policy.allowed(target.addresses, for: target.host)
    }
  }

  // MARK: After sending

  private func response(
    _ head: TransferHead, to method: HTTPRequest.Method, _ reader: BodyReader, _ target: RequestTarget, _ call: Call
  ) throws(DirectDNSError) -> DirectResponse {
    report(head, reader.context)
    guard let read = ResponseHead(head.lines, target.restorer(of: head.lines), to: method) else {
      let reason = "its status line, its length or its transfer coding is malformed, which the server has to mend"
      throw reader.context.error(TransferFailure(.init(reason: .malformedResponse(reason), delivery: .mayHaveArrived)))
    }
    let connection = ConnectionDetails(
      remoteAddress: head.connection.address, remotePort: target.url.effectivePort, httpVersion: read.version,
      isReused: head.connection.isReused, failedAddresses: head.connection.failedAddresses.map(\.address))
    call.options.observer?(.responded(read.response, over: connection))
    let timings = RequestTimings(
      lookup: target.lookup, connect: head.connect, tls: head.tls, firstByte: head.wait,
      total: SystemClock().now - call.began)
    return DirectResponse(
      read, url: target.original, body: ResponseBody(reader: reader), connection: connection,
      resolution: target.resolution(of: head.connection.address), timings: timings)
  }

  private func report(_ head: TransferHead, _ context: RequestContext) {
    report(head.connection.failedAddresses, context)
    for loser in head.connection.slower { resolver.report(.slower(than: loser.time), for: loser.address) }
    guard let address = head.connection.address, let connect = head.connect else { return }
    resolver.report(.connected(in: connect), for: address)
  }

  /// Reports addresses that failed: the resolver puts them last from now on, and idle connections to them are closed,
  /// unless the address accepts connections, and only its certificate is wrong for this name.
  private func report(_ addresses: [FailedAddress], _ context: RequestContext) {
    telemetry.failed(addresses)
    for failed in addresses {
      logger.debug(
        "an address failed",
        metadata: [
          "origin": "\(context.origin)", "address": "\(failed.address)", "reason": "\(failed.reason.text)",
        ])
      if failed.reason.isLocal { continue }
      resolver.report(.failed, for: failed.address)
      if case .tls = failed.reason { continue }
      for loop in loops { loop.tell(.closeIdle(failed.address)) }
    }
  }
}

extension TransferRequest.Body {
  /// Whether it can be sent again; a source that has not been started is withdrawn for that.
  fileprivate func withdraw() -> Bool { if case .pulled(let upload) = self { upload.withdraw() } else { true } }
}
