// SPDX-License-Identifier: Apache-2.0
/// Names that are kept alive: what ``KeepAliveMachine`` decides is carried out with the cache and the questions here.
extension LookupMachine {
  /// Sets the names that are kept alive, as many as the cache has room for.
  ///
  /// - Returns: how many names were left out.
  @discardableResult
  mutating func keepAlive(_ wanted: Set<HostName>, at now: ResolverInstant) -> Int {
    let names = keptAlive.fitting(wanted)
    if names != keptAlive.names {
      cache.keepAlive(names, now: now)
      for host in keptAlive.set(isShutDown ? [] : names) { keptAlive.begin(host, known(host, at: now), at: now) }
    }
    return wanted.count - names.count
  }

  /// Adds names to those that are kept alive; they stay when a later configuration does not name them.
  ///
  /// - Returns: how many names were left out.
  mutating func keepAlive(adding names: Set<HostName>, at now: ResolverInstant) -> Int {
    let leftOut = keepAlive(names.union(keptAlive.names), at: now)
    keptAlive.keepAdded(names)
    return leftOut
  }

  /// What the cache has of a name.
  func known(_ host: HostName, at now: ResolverInstant) -> KeepAliveMachine.Known {
    let name = cache.value(host)
    let fresh = AddressFamilies.any.filter { family in
      name?[family].entry.map { cache.phase(of: $0, at: now) == .fresh } ?? false
    }
    return KeepAliveMachine.Known(name: name, fresh: fresh)
  }

  /// Asks for the families of a kept-alive name that are due, even if the cache has a fresh answer.
  mutating func refreshAhead(_ host: HostName, at now: ResolverInstant) {
    let route = settings.configuration.route(for: host)
    let mayAsk = route == .providers || route == .system && settings.system != nil
    let families = keptAlive.due(host, known(host, at: now), mayAsk: mayAsk, at: now)
    guard !families.isEmpty else { return }
    report(.refreshAhead)
    for family in families.members {
      join(.init(AddressQuestion(host, family), by: route), deadlines(nil, from: now), .keepAlive(host), at: now)
    }
  }

  /// A server answers again: names that pause after a failure may be asked for sooner.
  mutating func wakeKeptAlive(at now: ResolverInstant) {
    for question in keptAlive.failed {
      guard let released = cache.releasedAt(question) else { continue }
      keptAlive.released(question, from: released, at: now)
    }
  }
}
