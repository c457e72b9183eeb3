// SPDX-License-Identifier: Apache-2.0
/// The names that are refreshed without being asked for: a value.
struct KeptNames: Sendable {
  /// How it stands with one of them.
  struct State: Sendable {
    /// Refreshes that failed in a row.
    var failures = 0
    /// Questions of the present refresh that are still open.
    var open = 0
    /// Whether the present refresh has brought an answer that is kept.
    var isAnswered = false
    /// Whether a server has come back since the present refresh began.
    var isReleased = false
    /// When it is refreshed next, where that is settled.
    var next: ResolverInstant?
  }

  private(set) var states: [HostName: State] = [:]
  /// Those whose last refresh failed.
  private(set) var failing: Set<HostName> = []
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  var names: Set<HostName> { Set(states.keys) }

  subscript(host: HostName) -> State? {
    get { states[host] }
    set {
      states[host] = newValue
      if (newValue?.failures ?? 0) > 0 { failing.insert(host) } else { failing.remove(host) }
    }
  }

  /// Earlier or later, from -1 to 1.
  mutating func jitter() -> Double { .random(in: -1...1, using: &random) }
}
