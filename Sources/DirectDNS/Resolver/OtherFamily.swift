// SPDX-License-Identifier: Apache-2.0
/// The family that a lookup brought no addresses of: asked for once, when those of the first one do not do.
///
/// The race for a connection asks when its first attempt brings none at once, so that a request whose first address
/// answers pays nothing (RFC 8305 §3); what is under way is joined, and not asked for again.
package final class OtherFamily: CurlAddressSource, Sendable {
  package typealias Outcome = Result<Resolution, DirectDNSError>

  private struct State {
    var outcome: Outcome?
    var look: Task<Outcome, Never>?
    var deliver: (@Sendable ([IPAddress]) -> Void)?
  }

  private let families: AddressFamilies
  private let knowledge: @Sendable () -> Outcome?
  private let look: @Sendable () async throws(DirectDNSError) -> Resolution
  private let observer: @Sendable (Resolution) -> Void
  private let state = Locked(State())

  /// Creates it; nobody is asked yet.
  ///
  /// - Parameters:
  ///   - families: the family.
  ///   - knowledge: what is known of it, without waiting.
  ///   - look: looks it up.
  ///   - observer: is told what was found.
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

  /// Says where the addresses go that come later; set before ``ask()``.
  package func connect(_ deliver: @escaping @Sendable ([IPAddress]) -> Void) { state.withLock { $0.deliver = deliver } }

  /// The addresses, judged by nobody yet, if they are known.
  ///
  /// If they are not, finding them out begins, and they are delivered later, none if there are none. Never waits.
  package func ask() -> [IPAddress]? {
    if let outcome = known() { return outcome.addresses }
    _ = looking()
    return nil
  }

  /// Waits for what comes of it.
  nonisolated(nonsending) package func outcome() async -> Outcome {
    if let outcome = known() { return outcome }
    let look = looking()
    return await withTaskCancellationHandler {
      await look.value
    } onCancel: {
      look.cancel()
    }
  }

  /// Nobody wants it any more; a query that is under way goes on for the cache.
  package func cancel() {
    let look = state.withLock { state in
      // Whoever waits may know this object: a cycle, which a lookup ends by its answer, and no lookup here.
      if state.look == nil { state.deliver = nil }
      return state.look
    }
    look?.cancel()
  }

  /// What was found, if it was.
  var resolution: Resolution? { if case .success(let found)? = state.withLock(\.outcome) { found } else { nil } }

  /// Why its addresses are missing, where it was asked for and may have some.
  package var failure: String? {
    let (outcome, isAsked) = state.withLock { ($0.outcome, $0.look != nil) }
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

  private func looking() -> Task<Outcome, Never> {
    state.withLock { state in
      if let look = state.look { return look }
      let task = Task { [self] () -> Outcome in
        do throws(DirectDNSError) { return deliver(.success(try await look())) } catch {
          return deliver(.failure(error))
        }
      }
      state.look = task
      return task
    }
  }

  private func deliver(_ outcome: Outcome) -> Outcome {
    let outcome = note(outcome)
    let deliver = state.withLock { $0.deliver.take() }
    deliver?(outcome.addresses)
    return outcome
  }

  /// Keeps what came first.
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
  /// The family that a lookup brought no addresses of, where it wanted both and somebody can be asked.
  ///
  /// - Parameters:
  ///   - found: what the lookup brought.
  ///   - name: the name.
  ///   - options: what it wanted.
  ///   - began: when it began; nil where nobody had to be asked.
  ///   - isDirect: whether the name is looked up by us, and not by the system.
  ///   - look: looks up the families that are missing.
  ///   - observer: is told what was found.
  /// - Returns: the family; nil where nothing is missing.
  package func otherFamily(
    than found: Resolution, of name: HostName, _ options: LookupOptions, since began: ResolverInstant?, isDirect: Bool,
    look: @escaping @Sendable (AddressFamilies) async throws(DirectDNSError) -> Resolution,
    observer: @escaping @Sendable (Resolution) -> Void = { _ in }
  ) -> OtherFamily? {
    guard !found.isWhole else { return nil }
    let missing = found.addresses.reduce(options.families ?? families) { $0.subtracting(AddressFamilies($1.family)) }
    guard !missing.isEmpty else { return nil }
    let began = began ?? clock.now
    return OtherFamily(missing) { [self] in
      var options = options
      options.families = missing
      return isDirect ? knownOutcome(of: name, options, since: began) : nil
    } look: { () async throws(DirectDNSError) in
      try await look(missing)
    } observer: {
      observer($0)
    }
  }
}

extension LookupOptions {
  /// The same for a connection, which need not wait for the second family: see ``OtherFamily``.
  package var forConnecting: Self {
    var options = self
    options.purpose = .connecting
    return options
  }
}

extension Resolution {
  /// Whether nobody was asked, so that there is nothing more to know.
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
