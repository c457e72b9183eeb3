// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// A clock that stands still at one second.
struct FixedClock: ResolverClock {
  let secondsSince1970: Int64
  var now: ResolverInstant { ResolverInstant(nanoseconds: 0) }
  var coarseNow: ResolverInstant { now }

  func sleep(until instant: ResolverInstant) async throws {}
}
