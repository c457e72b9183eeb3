/// The family that a lookup brought no addresses of: asked for once, when those of the first one do not do.
///
/// The race for a connection asks when its first attempt brings none at once, so that a request whose first address
/// answers pays nothing (RFC 8305 §3); what is under way is joined, and not asked for again.
final class OtherFamily: CurlAddressSource, Sendable {
  typealias Outcome = Result<Resolution, DirectDNSError>

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

  func connect(_ deliver: @escaping @Sendable ([IPAddress]) -> Void) { state.withLock { $0.deliver = deliver } }

  func ask() -> [IPAddress]? {
    if let outcome = known() { return outcome.addresses }
    _ = looking()
    return nil
  }

  /// Waits for what comes of it.
  nonisolated(nonsending) func outcome() async -> Outcome {
    if let outcome = known() { return outcome }
    let look = looking()
    return await withTaskCancellationHandler {
      await look.value
    } onCancel: {
      look.cancel()
    }
  }

  /// Nobody wants it any more; a query that is under way goes on for the cache.
  func cancel() { state.withLock { $0.look }?.cancel() }

  /// What was found, if it was.
  var resolution: Resolution? { if case .success(let found)? = state.withLock(\.outcome) { found } else { nil } }

  /// Why its addresses are missing, where it was asked for and may have some.
  var failure: String? {
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
    state.withLock { $0.deliver }?(outcome.addresses)
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

extension OtherFamily.Outcome {
  fileprivate var addresses: [IPAddress] { if case .success(let found) = self { Array(found.addresses) } else { [] } }
}
