// SPDX-License-Identifier: Apache-2.0
/// What a deciding value leaves for its owner to do, in order.
///
/// The owner takes all of it and carries it out, until nothing has been added meanwhile:
///
///     while var due = machine.actions.take() {
///       for index in due.indices { perform(due[index]) }
///       machine.actions.reuse(&due)
///     }
///
/// By index, since actions are large and would be copied otherwise.
struct ActionList<Action> {
  private(set) var waiting: [Action] = []
  /// The memory of actions that were carried out, for the next ones.
  private var spare: [Action] = []

  var isEmpty: Bool { waiting.isEmpty }

  mutating func append(_ action: Action) { waiting.append(action) }

  /// Takes back actions that wait.
  mutating func remove(where isObsolete: (Action) -> Bool) { waiting.removeAll(where: isObsolete) }

  /// Takes all actions; nil if there are none.
  mutating func take() -> [Action]? {
    guard !waiting.isEmpty else { return nil }
    return exchange(&waiting, with: exchange(&spare, with: []))
  }

  /// Takes back what ``take()`` has returned, whose memory the next actions use; `inout`, since memory that has another
  /// owner would have to be allocated anew.
  mutating func reuse(_ taken: inout [Action]) {
    taken.removeAll(keepingCapacity: true)
    swap(&spare, &taken)
  }
}
