@testable import DirectDNS

extension StateMachine {
  /// What is to be done.
  mutating func takeActions() -> [Action] {
    var actions: [Action] = []
    takeActions(into: &actions)
    return actions
  }
}
