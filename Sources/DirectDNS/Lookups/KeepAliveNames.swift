// SPDX-License-Identifier: Apache-2.0
/// The names that are kept alive (refreshed before they expire, without anybody asking for them): a value.
struct KeepAliveNames: Sendable {
  /// The state of one name.
  struct State: Sendable {
    /// The state of one family: the two have different lifetimes, and one may fail while the other is answered.
    struct Family: Sendable {
      /// How many refreshes in a row brought no answer that the cache keeps.
      var failures = 0
      /// When it is asked for next; nil if it has no time of its own, and is asked for along with the other family.
      var next: ResolverInstant?
    }

    private var ipv4 = Family()
    private var ipv6 = Family()
    /// The families that were due when the refresh began that is under way, or the last one.
    var due: [IPAddress.Family] = []
    /// Those of them that were asked for and have not been answered yet.
    var open: AddressFamilies = []
    /// Whether it was added to those of the configuration, and stays whatever that names later.
    var isAdded = false

    subscript(family: IPAddress.Family) -> Family {
      get { family == .ipv4 ? ipv4 : ipv6 }
      set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    var isFailing: Bool { ipv4.failures > 0 || ipv6.failures > 0 }
  }

  private(set) var states: [HostName: State] = [:]
  /// The names of which a family failed the last time.
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

  /// A random number from -1 to 1, which moves a refresh earlier or later.
  mutating func jitter() -> Double { .random(in: -1...1, using: &random) }
}

/// SplitMix64: the same seed gives the same numbers, so that a simulation can repeat what a machine did by chance.
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
