// SPDX-License-Identifier: Apache-2.0
/// The names that are refreshed without being asked for: a value.
struct KeptNames: Sendable {
  /// How it stands with one of them.
  struct State: Sendable {
    /// How it stands with one family: their lifetimes differ, and one may fail while the other is answered.
    struct Family: Sendable {
      /// Refreshes in a row that brought no answer that is kept.
      var failures = 0
      /// When it is asked for next; nil for along with the other family.
      var next: ResolverInstant?
    }

    private var ipv4 = Family()
    private var ipv6 = Family()
    /// The families of the present refresh, or the last one.
    var asked: [IPAddress.Family] = []
    /// Those that are still open.
    var open: AddressFamilies = []

    subscript(family: IPAddress.Family) -> Family {
      get { family == .ipv4 ? ipv4 : ipv6 }
      set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    var isFailing: Bool { ipv4.failures > 0 || ipv6.failures > 0 }
  }

  private(set) var states: [HostName: State] = [:]
  /// Those of which a family failed the last time.
  private(set) var failing: Set<HostName> = []
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  var names: Set<HostName> { Set(states.keys) }

  subscript(host: HostName) -> State? {
    get { states[host] }
    set {
      states[host] = newValue
      if newValue?.isFailing == true { failing.insert(host) } else { failing.remove(host) }
    }
  }

  /// Earlier or later, from -1 to 1.
  mutating func jitter() -> Double { .random(in: -1...1, using: &random) }
}

/// SplitMix64: the same numbers for the same seed, so that what a machine does by chance can be had again.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}
