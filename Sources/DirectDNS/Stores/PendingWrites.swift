// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// Changes that have yet to be written to a store: a value.
///
/// Of several changes for a question the newest counts; the question that has waited longest is written first.
struct PendingWrites: Sendable {
  enum Change: Sendable, Hashable {
    case keep(StoredAnswer)
    /// Forget what was asked for until then.
    case forget(WallInstant)

    var answer: StoredAnswer? { if case .keep(let answer) = self { answer } else { nil } }
    var forgotten: WallInstant? { if case .forget(let instant) = self { instant } else { nil } }
  }

  private let capacity: Int
  private var order: Deque<AddressQuestion> = []
  private var waiting: [AddressQuestion: Change] = [:]
  private var underWay: [AddressQuestion: Change] = [:]
  /// Whether changes have waited because of a failure, so that other processes may have written newer answers since.
  private(set) var isOld = false

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { waiting.count + underWay.count }
  var isEmpty: Bool { waiting.isEmpty && underWay.isEmpty }

  /// The newest change for a question that may not have been written yet.
  subscript(question: AddressQuestion) -> Change? { waiting[question] ?? underWay[question] }

  /// Adds a change.
  ///
  /// - Returns: false if there was no room.
  mutating func add(_ change: Change, to question: AddressQuestion) -> Bool {
    if waiting.updateValue(change, forKey: question) == nil {
      guard order.count < capacity else {
        waiting[question] = nil
        return false
      }
      order.append(question)
    }
    return true
  }

  /// Takes the next changes, which are under way until ``written()`` or ``failed()`` is called.
  mutating func next(_ most: Int) -> [AddressQuestion: Change] {
    let questions = order.prefix(most)
    order.removeFirst(questions.count)
    for question in questions { underWay[question] = waiting.removeValue(forKey: question) }
    return underWay
  }

  /// The changes under way have been written.
  mutating func written() {
    underWay = [:]
    if waiting.isEmpty { isOld = false }
  }

  /// The changes under way may not have been written: they wait again, unless there are newer ones.
  mutating func failed() {
    for (question, change) in underWay where waiting[question] == nil {
      waiting[question] = change
      order.prepend(question)
    }
    underWay = [:]
    isOld = true
  }
}
