// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Two families' states and one verdict.
///
/// Each state is an entry of 100 s, seen at an age at which it stands so.
struct CacheVerdictTests {
  enum State: String, Sendable, CaseIterable {
    case neverAsked, unknown, notKept, failed, failedOver, fresh, due, grace, stale, gone
    case missing, missingOver, empty, emptyOver

    /// At 1000 s.
    var view: FamilyView {
      let (kind, age): (FamilyView.Kind, Double) =
        switch self {
        case .neverAsked: (.neverAsked, 0)
        case .unknown, .failed, .failedOver: (.unknown, 0)
        case .notKept: (.notKept, 0)
        case .fresh: (.addresses, 10)
        case .due: (.addresses, 80)
        case .grace: (.addresses, 110)
        case .stale: (.addresses, 200)
        case .gone: (.addresses, 999_999)
        case .missing: (.nameNotFound, 90)
        case .missingOver: (.nameNotFound, 110)
        case .empty: (.noAddress, 50)
        case .emptyOver: (.noAddress, 110)
        }
      let life =
        switch self {
        case .neverAsked: CacheLife(askedAt: 0, expireAt: 0)
        case .unknown, .notKept: CacheLife(askedAt: 0, expireAt: CacheLife.never)
        case .failed: CacheLife(askedAt: 0, expireAt: Sample.at(1000).nanoseconds + 1)
        case .failedOver: CacheLife(askedAt: 0, expireAt: Sample.at(1000).nanoseconds)
        default: Sample.life(1000 - age, 1100 - age)
        }
      return FamilyView(kind: kind, life: life)
    }
  }

  private func verdict(
    _ ipv4: State, _ ipv6: State, _ wanted: AddressFamilies = .any, _ expired: ExpiredUse = .allowed,
    epoch: Int64 = .min
  ) -> CacheVerdict {
    CacheVerdict(
      ipv4: ipv4.view, ipv6: ipv6.view, wanted: wanted, expired: expired, times: CacheTimes(CachePolicy()),
      epoch: epoch, at: Sample.at(1000))
  }

  private static let second: Int64 = 1_000_000_000

  // MARK: One family

  @Test(arguments: [
    (State.fresh, CacheVerdict.serve(.ipv4, .fresh, refresh: false)),
    (.due, .serve(.ipv4, .due, refresh: true)), (.grace, .serve(.ipv4, .grace, refresh: true)),
    (.stale, .wait(.ipv4)), (.gone, .miss), (.neverAsked, .miss), (.unknown, .miss), (.notKept, .miss),
    (.missing, .negative(.nameNotFound, left: 10 * second)),
    (.empty, .negative(.noAddress, left: 50 * second)), (.missingOver, .miss), (.emptyOver, .miss),
  ])
  func `a lookup of one family gets what the life table says`(_ state: State, _ expected: CacheVerdict) {
    #expect(verdict(state, .neverAsked, .ipv4) == expected)
  }

  @Test(arguments: State.allCases)
  func `a family that is not wanted has no say`(_ other: State) {
    #expect(verdict(.fresh, other, .ipv4) == .serve(.ipv4, .fresh, refresh: false))
    #expect(verdict(other, .fresh, .ipv6) == .serve(.ipv6, .fresh, refresh: false))
    #expect(verdict(.missing, other, .ipv4) == .negative(.nameNotFound, left: 10 * Self.second))
    #expect(verdict(other, .gone, .ipv6) == .miss)
  }

  @Test(arguments: [
    (State.stale, ExpiredUse.refused, CacheVerdict.miss), (.grace, .refused, .miss),
    (.due, .refused, .serve(.ipv4, .due, refresh: true)),
    (.stale, .preferred, .serve(.ipv4, .grace, refresh: true)),
    (.gone, .preferred, .miss), (.missingOver, .preferred, .miss),
  ])
  func `what a caller thinks of expired answers decides`(
    _ state: State, _ expired: ExpiredUse, _ expected: CacheVerdict
  ) {
    #expect(verdict(state, .neverAsked, .ipv4, expired) == expected)
  }

  // MARK: Two families

  @Test(arguments: [
    // Both serve: the older one's freshness, one refresh if either wants it.
    (State.fresh, State.fresh, CacheVerdict.serve(.any, .fresh, refresh: false)),
    (.fresh, .due, .serve(.any, .due, refresh: true)), (.due, .fresh, .serve(.any, .due, refresh: true)),
    (.due, .grace, .serve(.any, .grace, refresh: true)),
    (.grace, .fresh, .serve(.any, .grace, refresh: true)),
    // One good family is an answer.
    (.fresh, .stale, .serve(.ipv4, .fresh, refresh: true)),
    (.stale, .fresh, .serve(.ipv6, .fresh, refresh: true)),
    (.fresh, .gone, .serve(.ipv4, .fresh, refresh: true)), (.due, .stale, .serve(.ipv4, .due, refresh: true)),
    (.fresh, .missing, .serve(.ipv4, .fresh, refresh: false)),
    (.empty, .fresh, .serve(.ipv6, .fresh, refresh: false)),
    (.fresh, .emptyOver, .serve(.ipv4, .fresh, refresh: true)),
    // A family that nobody asked for yet is asked for; one that brought nothing to keep waits for the other.
    (.fresh, .neverAsked, .serve(.ipv4, .fresh, refresh: true)),
    (.fresh, .unknown, .serve(.ipv4, .fresh, refresh: false)),
    (.unknown, .due, .serve(.ipv6, .due, refresh: true)),
    (.fresh, .notKept, .serve(.ipv4, .fresh, refresh: false)), (.notKept, .due, .serve(.ipv6, .due, refresh: true)),
    (.notKept, .stale, .wait(.ipv6)), (.notKept, .notKept, .miss), (.empty, .notKept, .miss),
    // One that failed is asked for again when its failure is forgotten.
    (.fresh, .failed, .serve(.ipv4, .fresh, refresh: false)),
    (.fresh, .failedOver, .serve(.ipv4, .fresh, refresh: true)),
    (.failed, .fresh, .serve(.ipv6, .fresh, refresh: false)),
    (.failedOver, .fresh, .serve(.ipv6, .fresh, refresh: true)),
    (.failedOver, .stale, .wait(.ipv6)), (.failed, .failedOver, .miss), (.missing, .failed, .miss),
    // Stale addresses are waited for, whatever else is missing.
    (.stale, .stale, .wait(.any)), (.stale, .empty, .wait(.ipv4)), (.missing, .stale, .wait(.ipv6)),
    (.stale, .neverAsked, .wait(.ipv4)), (.gone, .stale, .wait(.ipv6)), (.stale, .unknown, .wait(.ipv4)),
    // Negative only if both say so; not found only if both say that.
    (.missing, .missing, .negative(.nameNotFound, left: 10 * second)),
    (.empty, .empty, .negative(.noAddress, left: 50 * second)),
    (.missing, .empty, .negative(.noAddress, left: 10 * second)),
    (.empty, .missing, .negative(.noAddress, left: 10 * second)),
    (.missing, .neverAsked, .miss), (.missing, .unknown, .miss), (.missing, .missingOver, .miss),
    (.empty, .gone, .miss), (.neverAsked, .neverAsked, .miss), (.unknown, .unknown, .miss),
    (.gone, .gone, .miss),
  ])
  func `a lookup of both families gets`(_ ipv4: State, _ ipv6: State, _ expected: CacheVerdict) {
    #expect(verdict(ipv4, ipv6) == expected)
  }

  @Test
  func `after a change of network what was fresh is served and refreshed, and what was missing is asked for`() {
    let epoch = Sample.at(995).nanoseconds
    #expect(verdict(.fresh, .fresh, epoch: epoch) == .serve(.any, .due, refresh: true))
    #expect(verdict(.missing, .missing, epoch: epoch) == .miss)
    #expect(verdict(.stale, .neverAsked, .ipv4, epoch: epoch) == .wait(.ipv4))
    // Nothing can be refreshed where nothing is kept.
    let later = Sample.at(0).nanoseconds + 1
    #expect(verdict(.fresh, .notKept, epoch: later) == .serve(.ipv4, .fresh, refresh: false))
  }

  @Test func `nobody who wants no family is served`() {
    #expect(verdict(.fresh, .fresh, []) == .miss)
    #expect(verdict(.missing, .missing, []) == .miss)
  }

  @Test(arguments: [
    (CachePhase.fresh, Resolution.Freshness.fresh), (.due, .due), (.grace, .grace), (.stale, .stale),
    (.gone, .stale),
  ])
  func `freshness is the phase as callers see it`(_ phase: CachePhase, _ freshness: Resolution.Freshness) {
    #expect(Resolution.Freshness(phase) == freshness)
  }
}
