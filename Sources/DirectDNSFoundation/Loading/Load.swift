// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// One request of a session on its way: hop by hop to a response, and its body to Foundation.
final class Load: Sendable {
  private let request: URLRequest
  private let route: LoadingRoute
  private let receiver: LoadReceiver
  private let gate = LoadGate()
  private let task = Locked<Task<Void, Never>?>(nil)

  init(_ request: URLRequest, _ route: LoadingRoute, _ receiver: LoadReceiver) {
    self.request = request
    self.route = route
    self.receiver = receiver
  }

  func start() {
    task.withLock { $0 = Task { await run() } }
  }

  /// Ends the transfer; nothing more is handed over.
  func cancel() {
    receiver.end()
    task.withLock(\.self)?.cancel()
  }

  /// Hands nothing over and follows no redirect until ``resume()``: the server has to wait once the client's buffer is full.
  func pause() { gate.close() }

  func resume() { gate.open() }

  private func run() async {
    do throws(DirectDNSError) {
      guard let response = try await respond() else { return }
      try await receiveBody(of: response)
      await gate.pass()
      await receiver.finish()
    } catch {
      await gate.pass()
      await receiver.fail(URLError(error, url: request.url))
    }
  }

  // MARK: The head

  /// The response that the caller gets; nil where the loading system goes on by itself.
  private func respond() async throws(DirectDNSError) -> DirectResponse? {
    let client = try route.client.get()
    let deadline = ContinuousClock.now + Self.duration(route.resourceTimeout)
    let cookies = SessionCookies(request, route)
    var outgoing = try OutgoingRequest(request, route, cookies, userAgent: client.configuration.userAgent)
    var history: [DirectURLResponse] = []
    while true {
      var head = outgoing.head
      head.headerFields = cookies.fields(head.headerFields, for: try WebURL(head))
      var options = options(client, left: deadline - .now)
      options.showsIdentity = outgoing.showsIdentity
      let response = try await client.execute(head, body: outgoing.body, options: options)
      cookies.store(response, hostField: head.headerFields[.hostField])
      // Before a redirect is followed, too: a task that is suspended sends nothing more.
      await gate.pass()
      let redirect = try redirect(after: response, to: outgoing, hops: history.count, client.configuration.redirects)
      let url = history.isEmpty ? request.url : URL(response.url)
      guard let url, let shown = DirectURLResponse(response, url: url, history: history) else {
        throw .noFoundationURL(response.url)
      }
      guard let redirect else {
        await receiver.receive(shown)
        return response
      }
      await response.leave(for: redirect)
      guard !LoadReceiver.takesRedirects else {
        await receiver.redirect(to: try request.following(redirect), shown)
        return nil
      }
      outgoing.follow(redirect)
      history.append(shown)
    }
  }

  private func redirect(
    after response: DirectResponse, to outgoing: OutgoingRequest, hops: Int, _ rules: RedirectConfiguration?
  ) throws(DirectDNSError) -> Redirect? {
    guard let rules else { return nil }
    return try Redirect.next(
      after: response.head, to: outgoing.head, body: outgoing.bodyKind, hops: hops, configuration: rules)
  }

  private func options(_ client: DirectClient, left: Duration) -> RequestOptions {
    let connect = min(client.configuration.timeouts.connect, idle)
    return RequestOptions(
      timeouts: RequestTimeouts(connect: connect, firstByte: idle, idle: idle, total: max(left, .milliseconds(1))),
      redirects: .returned, decompresses: true)
  }

  // MARK: The body

  private func receiveBody(of response: DirectResponse) async throws(DirectDNSError) {
    var pieces = response.body.makeAsyncIterator()
    var whole = Data()
    while true {
      await gate.pass()
      guard let piece = try await pieces.next() else { break }
      if receiver.streams { await receiver.receive(Data(piece)) } else { whole.append(contentsOf: piece) }
    }
    // Foundation on Linux keeps the last piece alone for a completion handler.
    if !receiver.streams, !whole.isEmpty { await receiver.receive(whole) }
  }

  /// The longest time in which nothing moves: the request's, where it has one other than Foundation's default.
  private var idle: Duration {
    Self.duration(request.timeoutInterval == 60 ? route.requestTimeout : request.timeoutInterval)
  }

  private static func duration(_ seconds: TimeInterval) -> Duration {
    // Nine digits of seconds are thirty years; Foundation takes 0 for no limit.
    .seconds(seconds > 0 ? min(seconds, 999_999_999) : 999_999_999)
  }
}
