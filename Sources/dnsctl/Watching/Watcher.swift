internal import DirectDNS
internal import Synchronization

/// Looks names up again and again, as a program that goes by them would, and remembers what came of it.
final class Watcher: Sendable {
  private struct State {
    var rows: [WatchSnapshot.Row]
    /// Names that are being asked for.
    var waiting: Set<Int> = []
  }

  private let resolver: Resolver
  private let options: LookupOptions
  private let clock: any ResolverClock
  private let began: ResolverInstant
  /// The rows' names as they are looked up; nothing for what is none.
  private let names: [HostName?]
  private let state: Mutex<State>

  init(_ hosts: [String], resolver: Resolver, options: LookupOptions, clock: any ResolverClock) {
    self.resolver = resolver
    self.options = options
    self.clock = clock
    began = clock.now
    names = hosts.map { try? HostName($0) }
    state = Mutex(State(rows: hosts.map { WatchSnapshot.Row(host: $0) }))
  }

  var snapshot: WatchSnapshot {
    WatchSnapshot(
      rows: state.withLock { $0.rows }, upstreams: resolver.upstreamStatus, elapsed: clock.now - began,
      time: clock.wallNow)
  }

  /// Looks every name up that is not being asked for already.
  ///
  /// What the cache has it gives at once; what it has not is asked for by tasks of the group.
  func look(in group: inout TaskGroup<Void>) {
    let known = state.withLock { state in
      state.rows.indices.filter { !state.waiting.contains($0) }.map { ($0, state.rows[$0]) }
    }
    for (index, row) in known {
      let host = row.host
      // The first look is no miss of the cache: nobody could have asked before.
      if row.resolution != nil, let found = resolver.cached(host, options: options) {
        note(index, found, isHit: true)
      } else {
        state.withLock { _ = $0.waiting.insert(index) }
        group.addTask { await self.ask(index, host) }
      }
    }
  }

  private func ask(_ index: Int, _ host: String) async {
    do throws(DirectDNSError) {
      note(index, try await resolver.resolve(host, options: options), isHit: false)
    } catch {
      state.withLock { state in
        state.rows[index].lookups += 1
        state.rows[index].resolution = nil
        state.rows[index].lastError = ErrorText.line(error)
      }
    }
    state.withLock { _ = $0.waiting.remove(index) }
  }

  private func note(_ index: Int, _ found: Resolution, isHit: Bool) {
    state.withLock { state in
      state.rows[index].lookups += 1
      if isHit { state.rows[index].hits += 1 }
      // An expired answer serves because something is wrong: that stays told.
      if found.freshness <= .due { state.rows[index].lastError = nil }
      state.rows[index].resolution = found
    }
  }

  /// Hears of queries that failed: a refresh behind an answer is nobody's to throw.
  static func hearing(_ watcher: @escaping @Sendable () -> Watcher?) -> @Sendable (ResolverEvent) -> Void {
    { event in
      guard case .attempt(let attempt) = event, !attempt.isAnswer else { return }
      watcher()?.failed(attempt)
    }
  }

  private func failed(_ attempt: ResolverEvent.Attempt) {
    let host = attempt.question.host
    state.withLock { state in
      for index in state.rows.indices where names[index] == host {
        state.rows[index].lastError = "\(attempt.provider): \(attempt.outcome)"
      }
    }
  }
}
