// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS
@testable import DirectDNSTesting

/// The system's DNS as it was told to be; like c-ares it cannot be cancelled.
final class ScriptedSystem: SystemSource, NonBlocking {
  struct Asked: Sendable, Equatable {
    var question: AddressQuestion
    var timeout: Duration
    var at: ResolverInstant
  }

  private struct State: Sendable {
    var script: @Sendable (AddressQuestion) -> Script = { _ in .error(.connectionLost("no name server")) }
    var asked: [Asked] = []
  }

  private let clock: ManualClock
  private let state = Watched(State())

  init(clock: ManualClock) { self.clock = clock }

  /// Sets what is replied from now on.
  func answer(_ script: @escaping @Sendable (AddressQuestion) -> Script) {
    state.change { $0.script = script }
  }

  /// Every query so far.
  var asked: [Asked] { state.read { $0.asked } }
  var count: Int { asked.count }

  /// Waits until at least so many queries were asked.
  func waitForAsked(_ count: Int) async { await state.wait { $0.asked.count >= count } }

  func answer(
    to host: HostName, family: IPAddress.Family, timeout: Duration
  ) async throws(ProviderFailure) -> Answer {
    let question = AddressQuestion(host, family)
    let now = clock.now
    let script = state.change { state in
      state.asked.append(Asked(question: question, timeout: timeout, at: now))
      return state.script
    }
    let step = script(question)
    if step.delay > .zero {
      let clock = self.clock
      await Task.detached { try? await clock.sleep(until: now + min(step.delay, timeout)) }.value
      guard step.delay < timeout else { throw ProviderFailure(.transport, "timed out") }
    }
    switch step.outcome {
    case .answer(let answer): return answer
    case .error(let error): throw ProviderFailure(.transport, error.description)
    case .responseCode(let code): throw ProviderFailure(.transport, "answered \(code)")
    case .status(let status, _): throw ProviderFailure(.transport, "HTTP \(status)")
    }
  }
}
