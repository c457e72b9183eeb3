// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// What a store has yet to get: a value.
///
/// The newest word about a question counts, and the oldest question comes first.
struct PendingWrites: Sendable {
  enum Change: Sendable, Hashable {
    case keep(StoredAnswer)
    case forget

    var answer: StoredAnswer? { if case .keep(let answer) = self { answer } else { nil } }
  }

  private let capacity: Int
  private var order: Deque<AddressQuestion> = []
  private var waiting: [AddressQuestion: Change] = [:]
  private var underWay: [AddressQuestion: Change] = [:]
  /// Whether some of it has waited through a failure: others may have written newer answers since.
  private(set) var isOld = false

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { waiting.count + underWay.count }
  var isEmpty: Bool { waiting.isEmpty && underWay.isEmpty }

  /// The last word about a question that the store may not have heard yet.
  subscript(question: AddressQuestion) -> Change? { waiting[question] ?? underWay[question] }

  /// Adds a change; says whether there was room.
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

  /// Takes the next changes; they are under way until they are `written` or have `failed`.
  mutating func next(_ most: Int) -> [AddressQuestion: Change] {
    let questions = order.prefix(most)
    order.removeFirst(questions.count)
    for question in questions { underWay[question] = waiting.removeValue(forKey: question) }
    return underWay
  }

  /// Notes that the store has what was under way.
  mutating func written() {
    underWay = [:]
    if waiting.isEmpty { isOld = false }
  }

  /// Notes that the store may not have what was under way: it waits again, except where there is newer word.
  mutating func failed() {
    for (question, change) in underWay where waiting[question] == nil {
      waiting[question] = change
      order.prepend(question)
    }
    underWay = [:]
    isOld = true
  }
}
