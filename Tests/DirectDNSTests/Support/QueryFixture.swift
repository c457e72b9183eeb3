// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS
@testable import DirectDNSTesting

/// The servers' machine with a scripted transport around it, and no cache before it.
final class QueryFixture: QueryRecipient {
  private let runner: MachineRunner<QueryMachine>
  private let sender: QuerySender
  private let transport: ScriptedTransport
  private let waiting = Locked<
    (last: Int, callers: [QueryMachine.QuestionNumber: CheckedContinuation<Outcome, Never>])
  >((0, [:]))

  typealias Outcome = Result<QueryMachine.Answered<Answer>, QueryMachine.QuestionFailure>

  init(
    _ configuration: ResolverConfiguration, transport: ScriptedTransport, clock: ManualClock, bootstrap: Bootstrap
  ) {
    runner = MachineRunner(QueryMachine(configuration, at: clock.now), clock: clock)
    sender = QuerySender(transport: transport, clock: clock, bootstrap: bootstrap)
    self.transport = transport
  }

  private func send<Result>(_ event: (inout QueryMachine, ResolverInstant) -> Result) -> Result {
    runner.send(
      event, perform: perform, resume: resume, wake: { [weak self] in self?.send { $0.timePassed(at: $1) } })
  }

  private func perform(_ action: QueryMachine.Action) {
    switch action {
    case .send(let number, let server, let subject, let timeout):
      sender.send(number, to: server, subject, timeout: timeout, for: self)
    case .cancel(let number): sender.cancel(number)
    case .ended, .waits, .breaker, .removed, .opened: break
    }
  }

  private func resume(_ endings: [QueryMachine.Ending]) {
    for case .one(let number, let outcome) in endings {
      waiting.withLock { $0.callers.removeValue(forKey: number) }?.resume(returning: outcome)
    }
  }

  func ended(_ replies: [QueryReply]) {
    send { machine, now in for reply in replies { machine.ended(reply.number, reply.reply, at: now) } }
  }

  /// Asks a question and waits for what comes of it.
  func answer(
    _ question: AddressQuestion, _ deadlines: LookupDeadlines
  ) async throws(QueryMachine.QuestionFailure) -> QueryMachine.Answered<Answer> {
    let outcome = await withCheckedContinuation { caller in
      let number = waiting.withLock { waiting in
        waiting.last += 1
        let number = QueryMachine.QuestionNumber(rawValue: waiting.last)
        waiting.callers[number] = caller
        return number
      }
      send { $0.ask(number, .one(question), deadlines, at: $1) }
    }
    return try outcome.get()
  }

  func networkDidChange() {
    transport.networkDidChange()
    send { $0.networkDidChange(at: $1) }
  }

  func update(_ configuration: ResolverConfiguration) { send { $0.update(configuration, at: $1) } }

  /// Tells the machine of the time, so that what is due has been done on return.
  func timePassed() { send { $0.timePassed(at: $1) } }

  private var servers: [DNSServerState] { runner.look(\.states.all) }
  var tallies: [QueryTally] { servers.map(\.tally) }
  var status: [ProviderStatus] { servers.map { ProviderStatus($0.configuration.provider, $0.health) } }
  /// When somebody may be asked again, and who; nil unless all of them said 429.
  func pause(at now: ResolverInstant) -> (server: String, end: ResolverInstant)? { runner.look { $0.pause(at: now) } }
  func areAllOpen() -> Bool { runner.look(\.areAllBreakersOpen) }
}
