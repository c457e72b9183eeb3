// SPDX-License-Identifier: Apache-2.0
/// Carries out what ``LookupMachine`` decides: sends queries, asks the store and the system's DNS, reports, and resumes
/// the tasks that wait.
final class LookupRunner: QueryRecipient {
  /// The result of a lookup, and whether the store or a server had to be asked.
  struct Outcome: Sendable {
    var result: Result<Resolution, DirectDNSError>
    var wasAsked: Bool
  }

  /// The result of a lookup of records.
  typealias Records = Result<QueryMachine.Answered<RecordAnswer>, QueryMachine.QuestionFailure>

  private let runner: MachineRunner<LookupMachine>
  private let sender: QuerySender
  private let store: StoreLink?
  private let lookupTelemetry: LookupTelemetry
  private let resumption: TaskResumption
  private let outcomes = NumberedWaits<Lookup, Outcome>()
  private let records = NumberedWaits<DNSQuestion, Records>()
  private let drained = NumberedWaits<LookupMachine.Drain, Void>()

  init(
    _ machine: LookupMachine, clock: any ResolverClock, sender: QuerySender, store: StoreLink?,
    lookupTelemetry: LookupTelemetry, resumption: TaskResumption
  ) {
    runner = MachineRunner(machine, clock: clock)
    self.sender = sender
    self.store = store
    self.lookupTelemetry = lookupTelemetry
    self.resumption = resumption
  }

  /// Looks at the machine without changing it.
  func look<Result>(_ body: (LookupMachine) -> Result) -> Result { runner.look(body) }

  /// Sends the machine an event, and carries out the actions that follow.
  @discardableResult
  func send<Result>(_ event: (inout LookupMachine, _ now: ResolverInstant) -> Result) -> Result {
    runner.send(event, perform: perform, resume: resume, wake: { [weak self] in self?.send { $0.timePassed(at: $1) } })
  }

  /// Waits for a lookup that has begun; if the caller is cancelled, its queries go on for others and for the cache.
  nonisolated(nonsending) func outcome(of number: Number<Lookup>) async -> Outcome {
    await withTaskCancellationHandler {
      await outcomes.value(of: number)
    } onCancel: {
      send { $0.cancel(number, at: $1) }
    }
  }

  /// Waits for a lookup of records that has begun; if the caller is cancelled, so are its queries.
  nonisolated(nonsending) func records(of number: Number<DNSQuestion>) async -> Records {
    await withTaskCancellationHandler {
      await records.value(of: number)
    } onCancel: {
      send { $0.cancelRecords(number, at: $1) }
    }
  }

  /// Waits until all questions to these servers have ended that are under way now: about one name, or about any.
  func drain(_ host: HostName? = nil, servers: Set<InFlightQuestion.Server>) async {
    let number = send { machine, _ in machine.drain(host, servers) }
    await drained.value(of: number)
  }

  /// Queries have ended.
  func ended(_ replies: [QueryReply]) {
    send { machine, now in for reply in replies { machine.ended(reply.number, reply.reply, at: now) } }
  }

  // MARK: Actions

  private func perform(_ action: LookupMachine.Action) {
    switch action {
    case .query(let action): perform(action)
    case .askSystem(let number, let question, let system, let timeout):
      Task.detached(calling: system) { [self] in
        let result: Result<Answer, ProviderFailure>
        do throws(ProviderFailure) {
          result = .success(
            try await system.answer(to: question.host, family: question.family, timeout: timeout))
        } catch {
          result = .failure(error)
        }
        send { $0.systemAnswered(number, result, at: $1) }
      }
    case .readStore(let number, let question):
      store?.read(question) { [self] reading in send { $0.storeRead(number, reading, at: $1) } }
    case .takeLease(let number, let question, let duration):
      guard let store else { return }
      Task.immediateDetached { [self] in
        let state = await store.takeLease(on: question, for: duration)
        send { $0.leaseTaken(number, state, at: $1) }
      }
    case .endLease(let lease): store?.endSoon(lease)
    case .writeStore(let entry, let question, let provider, let lease):
      store?.write(entry, to: question, provider: provider, lease: lease)
    case .forgetStored(let question): store?.forget(question)
    case .report(let notice): lookupTelemetry.report(notice)
    }
  }

  private func perform(_ action: QueryMachine.Action) {
    switch action {
    case .send(let number, let server, let subject, let timeout):
      sender.send(number, to: server, subject, timeout: timeout, for: self)
    case .cancel(let number): sender.cancel(number)
    case .ended(let query): lookupTelemetry.queries.ended(query)
    case .waits: lookupTelemetry.queries.waits()
    case .breaker(let server, let isOpen): lookupTelemetry.queries.breaker(of: server, isOpen: isOpen)
    case .removed(let server): lookupTelemetry.queries.removed(server)
    case .opened(let server): lookupTelemetry.queries.opened(server)
    }
  }

  /// Resumes tasks that wait.
  private func resume(_ endings: [LookupMachine.Ending]) {
    var callers: [(caller: CheckedContinuation<Outcome, Never>, outcome: Outcome)] = []
    callers.reserveCapacity(endings.count)
    outcomes.table.withLock { outcomes in
      for case .answer(let number, let result, let wasAsked) in endings {
        let outcome = Outcome(result: result, wasAsked: wasAsked)
        if let caller = outcomes.fulfil(outcome, under: number) { callers.append((caller, outcome)) }
      }
    }
    for ending in endings {
      switch ending {
      case .answer: break
      case .records(let number, let result): records.deliver(result, under: number)
      case .drained(let number): drained.deliver((), under: number)
      }
    }
    guard !callers.isEmpty else { return }
    resumption.resume(callers.count) { [callers] in
      for (caller, outcome) in callers { caller.resume(returning: outcome) }
    }
  }
}
