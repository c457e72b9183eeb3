// SPDX-License-Identifier: Apache-2.0
/// The part of one family's entry that decides what a lookup gets.
struct FamilyView: Sendable, Hashable {
  /// What is known about the family.
  ///
  /// A byte and not an enum, since it is extracted from a word on the hot path.
  struct Kind: RawRepresentable, Sendable, Hashable {
    var rawValue: UInt8

    @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    @inline(__always) static var neverAsked: Kind { Kind(rawValue: 0) }
    @inline(__always) static var unknown: Kind { Kind(rawValue: 1) }
    @inline(__always) static var notKept: Kind { Kind(rawValue: 2) }
    @inline(__always) static var addresses: Kind { Kind(rawValue: 3) }
    @inline(__always) static var nameNotFound: Kind { Kind(rawValue: 4) }
    @inline(__always) static var noAddress: Kind { Kind(rawValue: 5) }

    @inline(__always)
    var isNegative: Bool { rawValue >= 4 }

    /// Whether there is an answer, be it a negative one.
    @inline(__always)
    var hasAnswer: Bool { rawValue >= 3 }

    /// Whether it was asked for, and brought nothing that is kept.
    @inline(__always)
    var isUnkept: Bool { rawValue &- 1 < 2 }

    @inline(__always)
    static func == (left: Kind, right: Kind) -> Bool { left.rawValue == right.rawValue }
  }

  var kind: Kind
  /// Of a family of which nothing is known, the second instant is when it is to be asked for again.
  var life: CacheLife

  @inline(__always)
  init(kind: Kind, life: CacheLife) {
    self.kind = kind
    self.life = life
  }
}

/// What a lookup gets from the cache: a pure function of both families' states and the time.
enum CacheVerdict: Sendable, Hashable {
  /// It gets the addresses of those families at once; with `refresh`, something is refreshed meanwhile.
  case serve(AddressFamilies, Resolution.Freshness, refresh: Bool)
  /// It waits for a refresh, and gets the expired addresses of those families if that takes too long.
  case wait(AddressFamilies)
  /// It gets a fresh negative answer, which lives for so many nanoseconds more.
  case negative(Answer.Negative, left: Int64)
  /// It gets nothing, and has to ask.
  case miss

  @inline(__always)
  init(
    ipv4: FamilyView, ipv6: FamilyView, wanted: AddressFamilies, expired: ExpiredUse, times: CacheTimes,
    epoch: Int64, at now: ResolverInstant
  ) {
    let wants4 = wanted.contains(AddressFamilies.ipv4)
    let wants6 = wanted.contains(AddressFamilies.ipv6)
    let phase4 = times.phase(of: ipv4.life, isNegative: ipv4.kind.isNegative, expired: expired, epoch: epoch, at: now)
    let phase6 = times.phase(of: ipv6.life, isNegative: ipv6.kind.isNegative, expired: expired, epoch: epoch, at: now)
    var served: AddressFamilies = []
    var worst = CachePhase.fresh
    if wants4, ipv4.kind == .addresses, phase4.isUsedAtOnce {
      served.insert(.ipv4)
      worst = phase4
    }
    if wants6, ipv6.kind == .addresses, phase6.isUsedAtOnce {
      served.insert(.ipv6)
      if phase6.rawValue > worst.rawValue { worst = phase6 }
    }
    if !served.isEmpty {
      let refresh =
        wants4 && Self.needsRefresh(ipv4, phase4, at: now) || wants6 && Self.needsRefresh(ipv6, phase6, at: now)
      self = .serve(served, Resolution.Freshness(worst), refresh: refresh)
      return
    }
    self = Self.withoutServing(
      (ipv4.kind, phase4, ipv4.life), (ipv6.kind, phase6, ipv6.life), wanted: wanted, now: now)
  }

  /// Whether a family has to be asked for while the other one is served.
  ///
  /// If asking brought nothing that is kept, it is not asked for again behind each lookup, but with the other family;
  /// and if it failed, when that failure is forgotten. A lookup that hands out addresses asks for those of TTL 0 itself.
  @inline(__always)
  private static func needsRefresh(_ family: FamilyView, _ phase: CachePhase, at now: ResolverInstant) -> Bool {
    if family.kind.isUnkept { return family.life.expireAt <= now.nanoseconds }
    return family.kind == .neverAsked || phase != .fresh
  }

  private typealias State = (kind: FamilyView.Kind, phase: CachePhase, life: CacheLife)

  private static func withoutServing(
    _ ipv4: State, _ ipv6: State, wanted: AddressFamilies, now: ResolverInstant
  ) -> CacheVerdict {
    let states =
      (wanted.contains(AddressFamilies.ipv4) ? [ipv4] : []) + (wanted.contains(AddressFamilies.ipv6) ? [ipv6] : [])
    var waiting: AddressFamilies = []
    if wanted.contains(AddressFamilies.ipv4), ipv4.kind == .addresses, ipv4.phase == .stale { waiting.insert(.ipv4) }
    if wanted.contains(AddressFamilies.ipv6), ipv6.kind == .addresses, ipv6.phase == .stale { waiting.insert(.ipv6) }
    guard waiting.isEmpty else { return .wait(waiting) }
    guard !states.isEmpty, states.allSatisfy({ $0.kind.isNegative && $0.phase == .fresh }) else { return .miss }
    let left = states.map { $0.life.expireAt - now.nanoseconds }.min() ?? 0
    // The name does not exist only if every family that was asked for says so.
    return .negative(states.allSatisfy { $0.kind == .nameNotFound } ? .nameNotFound : .noAddress, left: left)
  }
}

extension Resolution.Freshness {
  @inline(__always)
  init(_ phase: CachePhase) {
    switch phase {
    case .fresh: self = .fresh
    case .due: self = .due
    case .grace: self = .grace
    case .stale, .gone: self = .stale
    }
  }
}
