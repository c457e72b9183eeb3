// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

extension LookupMachine {
  /// How many callers wait.
  var lookupCount: Int { lookups.count }

  /// Whether a question waits for another member of the fleet.
  var waitsForLease: Bool {
    queries.all.contains { $0.value.turn?.isWaiting == true }
  }
}
