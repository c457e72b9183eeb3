// SPDX-License-Identifier: Apache-2.0
/// The family that a lookup for a connection did not wait for: it is looked up when the first family's addresses are
/// not enough.
///
/// The connection race asks for it when its first attempt does not connect at once (RFC 8305 §3), so that it costs
/// nothing for most requests. A query that is under way already is joined.
package final class OtherFamily: CurlAddressSource, Sendable {
  package typealias Outcome = Result<Resolution, DirectDNSError>

  private struct State {
    var outcome: Outcome?
    var task: Task<Outcome, Never>?
    var deliver: (@Sendable ([IPAddress]) -> Void)?
  }

  private let families: AddressFamilies
  private let knowledge: @Sendable () -> Outcome?
  private let look: @Sendable () async throws(DirectDNSError) -> Resolution
  private let observer: @Sendable (Resolution) -> Void
  private let state = Locked(State())

  /// Creates it; nothing is looked up yet.
  ///
  /// - Parameters:
  ///   - families: the family.
  ///   - knowledge: returns what is known about it, without waiting.
  ///   - look: looks it up.
  ///   - observer: called with what was found.
  init(
    _ families: AddressFamilies, knowledge: @escaping @Sendable () -> Outcome?,
    look: @escaping @Sendable () async throws(DirectDNSError) -> Resolution,
    observer: @escaping @Sendable (Resolution) -> Void = { _ in }
  ) {
    self.families = families
    self.knowledge = knowledge
    self.look = look
    self.observer = observer
  }

  /// Sets what is called with addresses that come later; called before ``ask()``.
  package func setReceiver(_ deliver: @escaping @Sendable ([IPAddress]) -> Void) {
    state.withLock { $0.deliver = deliver }
  }

  /// The addresses, which the policy has not judged yet, if they are known; never waits.
  ///
  /// Otherwise starts to look them up, and returns nil; they are delivered later, as an empty list if there are none.
  package func ask() -> [IPAddress]? {
    if let outcome = known() { return outcome.addresses }
    _ = startLookup()
    return nil
  }

  /// Looks it up, and waits for the outcome.
  nonisolated(nonsending) package func outcome() async -> Outcome {
    if let outcome = known() { return outcome }
    let task = startLookup()
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Cancels the lookup, since nobody wants it any more; queries under way go on for the cache.
  package func cancel() {
    let task = state.withLock { state in
      // `deliver` may hold this object: without a lookup, nothing else would end that cycle.
      if state.task == nil { state.deliver = nil }
      return state.task
    }
    task?.cancel()
  }

  /// The answer, if it has come.
  var resolution: Resolution? { if case .success(let found)? = state.withLock(\.outcome) { found } else { nil } }

  /// Why its addresses are missing, for an error; nil if it was not asked for, or has none.
  package var failure: String? {
    let (outcome, isAsked) = state.withLock { ($0.outcome, $0.task != nil) }
    let code: DirectDNSError.Code
    switch outcome {
    case .success: return nil
    case .failure(let error): code = error.code
    case nil: code = .timedOut
    }
    guard isAsked, code != .noAddress, code != .nameNotFound else { return nil }
    return "its \(families) addresses could not be looked up (\(code))"
  }

  private func known() -> Outcome? { state.withLock(\.outcome) ?? knowledge().map(note) }

  /// The task that looks it up, which is started if there is none yet.
  private func startLookup() -> Task<Outcome, Never> {
    state.withLock { state in
      if let task = state.task { return task }
      let task = Task { [self] () -> Outcome in
        do throws(DirectDNSError) { return deliver(.success(try await look())) } catch {
          return deliver(.failure(error))
        }
      }
      state.task = task
      return task
    }
  }

  private func deliver(_ outcome: Outcome) -> Outcome {
    let outcome = note(outcome)
    let deliver = state.withLock { $0.deliver.take() }
    deliver?(outcome.addresses)
    return outcome
  }

  /// Keeps the first outcome.
  private func note(_ new: Outcome) -> Outcome {
    let (outcome, isNew) = state.withLock { state in
      if let outcome = state.outcome { return (outcome, false) }
      state.outcome = new
      return (new, true)
    }
    if isNew, case .success(let found) = outcome { observer(found) }
    return outcome
  }
}

extension DirectResolver {
  /// The family that is wanted and missing in an answer; nil if none is, or nobody could have it.
  ///
  /// - Parameters:
  ///   - found: the answer.
  ///   - name: the name.
  ///   - options: the options of the lookup.
  ///   - began: when the lookup began; nil if the cache had the answer.
  ///   - isDirect: whether direct connect is on for the name; otherwise only the system's DNS is asked.
  ///   - look: looks up the missing family.
  ///   - observer: called with what was found.
  /// - Returns: the family; nothing is looked up yet.
  package func otherFamily(
    than found: Resolution, of name: HostName, _ options: LookupOptions, since began: ResolverInstant?,
    isDirect: Bool, look: @escaping @Sendable (AddressFamilies) async throws(DirectDNSError) -> Resolution,
    observer: @escaping @Sendable (Resolution) -> Void = { _ in }
  ) -> OtherFamily? {
    let missing = found.addresses.reduce(options.families ?? families) { $0.subtracting(AddressFamilies($1.family)) }
    guard !found.isWhole, !missing.isEmpty else { return nil }
    let began = began ?? clock.now
    var options = options
    options.families = missing
    return OtherFamily(
      missing,
      knowledge: { [self, options] in isDirect ? knownOutcome(of: name, options, since: began) : nil },
      look: { () async throws(DirectDNSError) in try await look(missing) }, observer: observer)
  }
}

extension LookupOptions {
  /// The same options for a connection, which does not have to wait for the second family; see ``OtherFamily``.
  package var forConnecting: Self {
    var options = self
    options.purpose = .connecting
    return options
  }
}

extension Resolution {
  /// Whether it did not come from DNS, so that no family can be missing.
  fileprivate var isWhole: Bool {
    switch source {
    case .literal, .pin, .local: true
    case .provider, .system, .store: false
    }
  }
}

extension OtherFamily.Outcome {
  fileprivate var addresses: [IPAddress] { if case .success(let found) = self { Array(found.addresses) } else { [] } }
}
