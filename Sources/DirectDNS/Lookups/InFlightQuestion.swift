// SPDX-License-Identifier: Apache-2.0
/// A question that is being asked.
struct InFlightQuestion: Sendable {
  /// Who is asked.
  enum Server: Sendable, Hashable {
    /// The store, if there is one, and then the providers.
    case providers
    /// The system's DNS, as a fallback, or where it alone is asked; without providers after the store.
    case system
    /// The system's DNS instead of the providers; neither cached answers nor remembered failures count.
    case systemAlone
  }

  /// Callers who ask the same of the same server share one question.
  struct Key: Sendable, Hashable {
    var question: AddressQuestion
    var server: Server
  }

  /// Who waits for it.
  enum Waiter: Sendable, Hashable {
    case lookup(Number<Lookup>)
    case keepAlive(HostName)
  }

  let key: Key
  let deadlines: LookupDeadlines
  let asked: ResolverInstant
  /// The number of the configuration that it was begun under.
  let generation: Int
  /// Whether its name was invalidated meanwhile: those who wait still get the answer, but it is not kept.
  private(set) var isInvalidated = false
  private(set) var waiters: [Waiter] = []
  /// The highest number among the lookups that wait.
  private var newest = Number<Lookup>(rawValue: .min)
  /// Its way through the store, if there is one.
  var turn: StoreTurn?
  /// What the servers failed it by, while what the store has is awaited, which is late.
  var failure: QueryMachine.QuestionFailure?
  /// What is noted of the name's other family, if that was asked for meanwhile and brought nothing to keep.
  var other: CachedName.Slot?
  /// What the store had for a caller who asks once more, and so knows it; the cache may have evicted it.
  var restored: CacheEntry?
  /// The batch that it goes out with, if any.
  var batch: Number<QuestionBatch>?

  var question: AddressQuestion { key.question }

  init(key: Key, deadlines: LookupDeadlines, asked: ResolverInstant, generation: Int) {
    self.key = key
    self.deadlines = deadlines
    self.asked = asked
    self.generation = generation
  }

  /// Its name is invalidated: a refresh ahead of need does not wait for it any more, since it begins anew.
  mutating func invalidate() {
    isInvalidated = true
    waiters.removeAll { if case .keepAlive = $0 { true } else { false } }
  }

  /// Its name is looked up elsewhere from now on: whoever waits for it does so there.
  mutating func abandon() {
    isInvalidated = true
    waiters = []
  }

  /// Adds somebody who waits, unless it is there already.
  ///
  /// Lookups get ascending numbers, so that a new one need not be searched for among the thousands that may wait.
  mutating func add(_ waiter: Waiter) {
    if case .lookup(let number) = waiter, number > newest {
      newest = number
    } else if waiters.contains(waiter) {
      return
    }
    waiters.append(waiter)
  }
}

extension InFlightQuestion.Key {
  /// A question of the server that its name's route leads to.
  init(_ question: AddressQuestion, by route: NameRoute) {
    self.init(question: question, server: route == .system ? .system : .providers)
  }
}

/// The questions that are being asked, by their numbers and by what they ask of whom: a value.
struct InFlightQuestions: Sendable {
  private var questions = NumberTable<InFlightQuestion, InFlightQuestion>()
  /// The numbers of those that others may join.
  private var numbers: [InFlightQuestion.Key: Number<InFlightQuestion>] = [:]
  /// Those that nobody joins any more since the configuration changed: several may ask the same.
  private var former: [InFlightQuestion.Key: [Number<InFlightQuestion>]] = [:]

  var isEmpty: Bool { questions.isEmpty }

  /// How many there are, with those that nobody can join any more.
  var count: Int { questions.count }

  /// All of them, by ascending numbers.
  var all: [(number: Number<InFlightQuestion>, value: InFlightQuestion)] { questions.all }

  /// The question of that number, which may be changed in place; nil once it has ended.
  subscript(number: Number<InFlightQuestion>) -> InFlightQuestion? {
    get { questions[number] }
    _modify { yield &questions[number] }
  }

  /// The number of the one that whoever asks this would join; nil if there is none.
  func number(of key: InFlightQuestion.Key) -> Number<InFlightQuestion>? { numbers[key] }

  /// Adds one that others may join.
  mutating func add(_ question: consuming InFlightQuestion, under number: Number<InFlightQuestion>) {
    numbers[question.key] = number
    questions[number] = consume question
  }

  /// Removes one that has ended.
  mutating func remove(_ number: Number<InFlightQuestion>) -> InFlightQuestion? {
    guard let question = questions.removeValue(forKey: number) else { return nil }
    // After an invalidation, or under another configuration, the same may have been asked anew.
    if let place = numbers.index(forKey: question.key), numbers[place].value == number { numbers.remove(at: place) }
    if !former.isEmpty, let others = former[question.key]?.filter({ $0 != number }) {
      former[question.key] = others.isEmpty ? nil : others
    }
    return question
  }

  /// From now on nobody joins those that are under way; they go on for those who wait.
  mutating func beginAnew() {
    for (key, number) in numbers { former[key, default: []].append(number) }
    numbers = [:]
  }

  /// Invalidates all that ask this: nobody joins them any more, and what they bring is not kept.
  mutating func invalidate(_ key: InFlightQuestion.Key) {
    if let number = numbers.removeValue(forKey: key) { questions[number]?.invalidate() }
    for number in former[key] ?? [] { questions[number]?.invalidate() }
  }
}
