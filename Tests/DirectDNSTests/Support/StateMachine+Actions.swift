// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

extension StateMachine {
  /// What is to be done.
  mutating func takeActions() -> [Action] {
    var actions: [Action] = []
    takeActions(into: &actions)
    return actions
  }

  /// What those get who wait.
  mutating func takeEndings() -> [Ending] {
    var endings: [Ending] = []
    takeEndings(into: &endings)
    return endings
  }
}
