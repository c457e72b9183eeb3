// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes

@testable import DirectDNS
@testable import DirectDNSTesting

/// A transport without a network: replies as it was told, by the hand-moved clock, and records what it was asked.
final class ScriptedTransport: HTTPTransport, NonBlocking {
  /// One query as it was sent.
  struct Sent: Sendable {
    var provider: String
    var question: AddressQuestion
    var addresses: [IPAddress]
    var timeout: Duration
    var at: ResolverInstant
  }

  private struct State: Sendable {
    var script: @Sendable (Sent) -> Script = { _ in .down }
    var sent: [Sent] = []
    var cancelled: [Sent] = []
    var sleeping: [Int: Task<Bool, Never>] = [:]
    var isShutDown = false
    var networkChanges = 0
  }

  private let clock: ManualClock
  private let state = Watched(State())

  init(clock: ManualClock) { self.clock = clock }

  /// Sets what is replied from now on, by provider and question.
  func reply(_ script: @escaping @Sendable (Sent) -> Script) { state.change { $0.script = script } }

  /// Sets what every provider replies from now on.
  func answer(_ script: @escaping @Sendable (AddressQuestion) -> Script) { reply { script($0.question) } }

  /// Every query so far.
  var sent: [Sent] { state.read { $0.sent } }
  /// The providers that were asked, in the order of asking.
  var asked: [String] { sent.map(\.provider) }
  var count: Int { state.read { $0.sent.count } }
  /// The queries that were given up by the caller.
  var cancelled: [Sent] { state.read { $0.cancelled } }
  var networkChanges: Int { state.read { $0.networkChanges } }
  var isShutDown: Bool { state.read { $0.isShutDown } }

  /// Waits until at least so many queries were sent.
  func waitForSent(_ count: Int) async { await state.wait { $0.sent.count >= count } }

  /// Waits until at least so many queries were given up.
  func waitForCancelled(_ count: Int) async { await state.wait { $0.cancelled.count >= count } }

  /// Waits until something was asked about each of the names.
  func waitForSent(_ names: HostName...) async {
    await state.wait { state in names.allSatisfy { name in state.sent.contains { $0.question.host == name } } }
  }

  func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply {
    let now = clock.now
    let sent = Sent(
      provider: "\(endpoint.origin.host)".split(separator: ".").first.map(String.init) ?? "",
      question: ScriptedProvider.question(message), addresses: endpoint.addresses, timeout: timeout, at: now)
    let (script, number, isShutDown) = state.change { state in
      state.sent.append(sent)
      return (state.script, state.sent.count, state.isShutDown)
    }
    guard !isShutDown else { throw .shutDown }
    let step = script(sent)
    if step.delay > .zero {
      let slept = await sleep(number, until: now + min(step.delay, timeout))
      guard slept else {
        if state.read({ $0.isShutDown }) { throw .shutDown }
        state.change { $0.cancelled.append(sent) }
        throw .cancelled
      }
      guard step.delay < timeout else { throw .timedOut }
    }
    switch step.outcome {
    case .error(let error): throw error
    case .answer(let answer): return HTTPReply(status: .ok, body: ScriptedProvider.body(answer))
    case .responseCode(let code): return HTTPReply(status: .ok, body: Array("code \(code)||".utf8))
    case .status(let status, let retryAfter):
      let fields: HTTPFields = retryAfter.map { [.retryAfter: "\($0)"] } ?? [:]
      return HTTPReply(status: .init(code: status), fields: fields)
    }
  }

  /// Whether the instant came, rather than a cancellation or the end.
  private func sleep(_ number: Int, until instant: ResolverInstant) async -> Bool {
    let sleeper = Task { [clock] in (try? await clock.sleep(until: instant)) != nil }
    state.change { $0.sleeping[number] = sleeper }
    let slept = await withTaskCancellationHandler {
      await sleeper.value
    } onCancel: {
      sleeper.cancel()
    }
    state.change { $0.sleeping[number] = nil }
    return slept
  }

  func networkDidChange() { state.change { $0.networkChanges += 1 } }

  func shutdown() {
    let sleeping = state.change { state in
      state.isShutDown = true
      return Array(state.sleeping.values)
    }
    for sleeper in sleeping { sleeper.cancel() }
  }
}
