// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What tests look at of what the machine knows.
extension LookupMachine {
  /// How many callers wait.
  var lookupCount: Int { lookups.count }

  /// How many questions are being asked.
  var questionCount: Int { questions.count }

  /// Whether a question waits for another member of the fleet.
  var waitsForLease: Bool {
    questions.all.contains { $0.value.turn?.isWaiting == true }
  }
}
