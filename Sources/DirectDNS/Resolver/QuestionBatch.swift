/// Questions that wait for each other, to be asked in one query.
///
/// Each that is expected joins, or leaves because it needs no asking; with the last of them the query goes out.
final class QuestionBatch: Sendable {
  private struct State {
    var expected = 0
    var isClosed = false
    var waiting: [(AddressQuestion, CheckedContinuation<Upstreams.BatchOutcome, Never>)] = []

    /// Those who waited, when nobody else will come; each is handed out once.
    mutating func takeComplete() -> [(AddressQuestion, CheckedContinuation<Upstreams.BatchOutcome, Never>)] {
      guard isClosed, waiting.count == expected else { return [] }
      defer { waiting = [] }
      expected = 0
      return waiting
    }
  }

  private let state = Locked(State())
  private let ask: @Sendable ([AddressQuestion]) async -> [AddressQuestion: Upstreams.BatchOutcome]

  init(_ ask: @escaping @Sendable ([AddressQuestion]) async -> [AddressQuestion: Upstreams.BatchOutcome]) {
    self.ask = ask
  }

  /// One more question will join or leave.
  func expect() { state.withLock { $0.expected += 1 } }

  /// A question that was expected needs no asking.
  func leave() {
    send(
      state.withLock { state in
        state.expected -= 1
        return state.takeComplete()
      })
  }

  /// No more questions will be expected.
  func close() {
    send(
      state.withLock { state in
        state.isClosed = true
        return state.takeComplete()
      })
  }

  /// Joins, and waits for what the query brings.
  func outcome(of question: AddressQuestion) async -> Upstreams.BatchOutcome {
    await withCheckedContinuation { continuation in
      send(
        state.withLock { state in
          state.waiting.append((question, continuation))
          return state.takeComplete()
        })
    }
  }

  private func send(_ all: [(AddressQuestion, CheckedContinuation<Upstreams.BatchOutcome, Never>)]) {
    guard !all.isEmpty else { return }
    Task.immediateDetached { [ask] in
      let outcomes = await ask(all.map(\.0))
      for (question, continuation) in all { continuation.resume(returning: outcomes[question] ?? .alone(after: nil)) }
    }
  }
}

extension Resolver {
  /// How many names are asked for in one query, if several are to be asked for.
  var batchLimit: Int { upstreams.batchLimit(at: clock.now) }

  /// Begins to ask for whatever is not fresh of several names, in one query; whoever looks them up finds that under way.
  ///
  /// - Parameters:
  ///   - hosts: the names, no more than ``batchLimit``.
  ///   - families: which families; the resolver's own by default.
  func askTogether(_ hosts: [HostName], _ families: AddressFamilies?) {
    let now = clock.now
    let configuration = settings.configuration
    let deadlines = lookupDeadlines(from: now)
    let batch = QuestionBatch { [upstreams] in await upstreams.answers($0, deadlines) }
    for host in hosts {
      let route = configuration.localZones.route(host)
      guard route == .providers else { continue }
      _ = startRefresh(host, families ?? configuration.families, route, deadlines, batch, at: now)
    }
    batch.close()
  }
}
