// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// Looks names up repeatedly, as a program that uses them would, and remembers the results.
final class Watcher: Sendable {
  private struct State {
    var rows: [WatchSnapshot.Row] = []
    /// The index of each name's row.
    var places: [String: Int] = [:]
    /// The rows of each name, in the form in which it is looked up.
    var names: [HostName: [Int]] = [:]
    var options: LookupOptions
    /// Names that are being asked for.
    var waiting: Set<String> = []

    /// Sets the names that are watched; what is known of those that stay is kept.
    mutating func watch(_ hosts: [String]) {
      rows = hosts.map { host in places[host].map { rows[$0] } ?? WatchSnapshot.Row(host: host) }
      places = Dictionary(hosts.enumerated().map { ($1, $0) }) { first, _ in first }
      names = [:]
      for (place, host) in hosts.enumerated() {
        if let name = try? HostName(host) { names[name, default: []].append(place) }
      }
    }

    /// Changes a name's row, if the name is still watched.
    mutating func change(_ host: String, _ body: (inout WatchSnapshot.Row) -> Void) {
      if let place = places[host] { body(&rows[place]) }
    }
  }

  private let resolver: DirectResolver
  private let clock: any ResolverClock
  private let began: ResolverInstant
  private let state: Mutex<State>

  init(_ hosts: [String], resolver: DirectResolver, options: LookupOptions, clock: any ResolverClock) {
    self.resolver = resolver
    self.clock = clock
    began = clock.now
    state = Mutex(State(options: options))
    watch(hosts, options: options)
  }

  /// Sets the names that are watched and how they are looked up; what is known of those that stay is kept.
  func watch(_ hosts: [String], options: LookupOptions) {
    state.withLock { state in
      state.watch(hosts)
      state.options = options
    }
  }

  var snapshot: WatchSnapshot {
    WatchSnapshot(
      rows: state.withLock { $0.rows }, upstreams: resolver.providerStatus, elapsed: clock.now - began,
      time: clock.wallNow)
  }

  /// Looks up every name that is not being looked up already.
  ///
  /// Answers in the cache are noted at once; the other names are looked up by tasks of the group.
  func look(in group: inout TaskGroup<Void>) {
    let (rows, options) = state.withLock { state in
      (state.rows.filter { !state.waiting.contains($0.host) }, state.options)
    }
    for row in rows {
      let host = row.host
      // The first lookup does not count as a miss, since the name cannot be in the cache before.
      if row.resolution != nil, let found = resolver.cached(host, options: options) {
        note(host, found, isHit: true)
      } else {
        state.withLock { _ = $0.waiting.insert(host) }
        group.addTask { await self.ask(host, options) }
      }
    }
  }

  private func ask(_ host: String, _ options: LookupOptions) async {
    do throws(DirectDNSError) {
      note(host, try await resolver.resolve(host, options: options), isHit: false)
    } catch {
      // A lookup that is cancelled at the end is no failure of the name.
      if error.code != .cancelled { note(host, error) }
    }
    state.withLock { _ = $0.waiting.remove(host) }
  }

  private func note(_ host: String, _ error: DirectDNSError) {
    state.withLock { state in
      state.change(host) { row in
        row.lookups += 1
        row.resolution = nil
        row.lastError = ErrorText.line(error)
        row.isNegative = error.code == .nameNotFound || error.code == .noAddress
      }
    }
  }

  private func note(_ host: String, _ found: Resolution, isHit: Bool) {
    state.withLock { state in
      state.change(host) { row in
        row.lookups += 1
        if isHit { row.hits += 1 }
        // An expired answer is used because something is wrong, so the error stays.
        if found.freshness <= .due || row.isNegative { row.lastError = nil }
        row.isNegative = false
        row.resolution = found
      }
    }
  }

  /// An observer of failed queries: a refresh in the background has no caller to throw an error to.
  static func observer(for watcher: @escaping @Sendable () -> Watcher?) -> @Sendable (ResolverEvent) -> Void {
    { event in
      guard case .query(let query) = event, !query.isAnswer else { return }
      watcher()?.failed(query)
    }
  }

  private func failed(_ query: ResolverEvent.Query<AddressQuestion>) {
    let host = query.question.host
    state.withLock { state in
      for place in state.names[host] ?? [] {
        state.rows[place].lastError = "\(query.provider): \(query.outcome)"
      }
    }
  }
}
