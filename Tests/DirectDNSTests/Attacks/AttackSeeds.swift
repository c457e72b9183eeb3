// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Which made-up attacks a run has: `make attack SEEDS=N` for so many, `SEED=S` for the one that a failure named.
enum AttackSeeds {
  /// Those of one of several workers that run beside each other.
  static func seeds(_ worker: Int, of workers: Int, usually count: UInt64) -> [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["DIRECTDNS_SEED"].flatMap(UInt64.init) { return worker == 0 ? [seed] : [] }
    let all = environment["DIRECTDNS_SEEDS"].flatMap(UInt64.init).map { max(1, $0) } ?? count
    return (1...all).filter { Int($0 % UInt64(workers)) == worker }
  }

  /// Whether so many run that memory says something.
  static var isLong: Bool { (ProcessInfo.processInfo.environment["DIRECTDNS_SEEDS"].flatMap(Int.init) ?? 0) >= 5000 }
}
