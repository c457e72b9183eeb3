public import DirectDNS

/// What every ``/DirectDNS/AnswerStore`` must do, one promise at a time.
///
/// Run it against a store of your own, a new and empty one for each promise:
///
/// ```swift
/// @Test(arguments: AnswerStoreContract.all)
/// func `the contract holds`(_ promise: AnswerStoreContract) async throws {
///   try await promise.check(MyStore())
/// }
/// ```
public struct AnswerStoreContract: Sendable, CustomStringConvertible {
  /// A promise that was broken.
  public struct Breach: Error, CustomStringConvertible {
    /// What was seen, and what should have been.
    public let description: String
  }

  /// The promise, in words.
  public let description: String
  private let body: @Sendable (any AnswerStore) async throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (any AnswerStore) async throws -> Void) {
    self.description = description
    self.body = body
  }

  /// Checks the promise.
  ///
  /// - Parameter store: an empty store.
  /// - Throws: a ``Breach``, or what the store threw.
  public func check(_ store: any AnswerStore) async throws { try await body(store) }

  /// Every promise of a store.
  public static let all = [
    AnswerStoreContract("a question that nobody answered has no answer") { store in
      try await expect([], from: store, of: [a("www.example.net")])
      try await store.remove([a("www.example.net")])
      try await store.removeAll()
    },
    AnswerStoreContract("nothing is asked and nothing written without complaint") { store in
      try await expect([], from: store, of: [])
      try await store.write([])
      try await store.remove([])
    },
    AnswerStoreContract("what was written is read as it was") { store in
      for answer in samples {
        try await store.write([answer])
        try await expect([answer], from: store, of: [answer.question])
      }
    },
    AnswerStoreContract("the two families of a name are apart") { store in
      let four = answer(a("www.example.net"), "192.0.2.1")
      let six = answer(aaaa("www.example.net"), "2001:db8::1")
      try await store.write([four, six])
      try await store.remove([six.question])
      try await expect([four], from: store, of: [four.question, six.question])
    },
    AnswerStoreContract("what was written last counts") { store in
      let question = a("www.example.net")
      let last = answer(question, "192.0.2.2")
      try await store.write([answer(question, "192.0.2.1")])
      try await store.write([last])
      try await expect([last], from: store, of: [question])
    },
    AnswerStoreContract("what was removed is not there any more, and all else is") { store in
      let (first, second) = (answer(a("one.example.net"), "192.0.2.1"), answer(a("two.example.net"), "192.0.2.2"))
      try await store.write([first, second])
      try await store.remove([first.question, a("three.example.net")])
      try await expect([second], from: store, of: [first.question, second.question])
      try await store.removeAll()
      try await expect([], from: store, of: [first.question, second.question])
    },
    AnswerStoreContract("a call takes 256 answers") { store in
      let answers = many(256)
      try await store.write(answers)
      try await expect(answers, from: store, of: answers.map(\.question))
    },
    AnswerStoreContract("a visit shows everything, and ends when it is told to") { store in
      let answers = many(256) + samples
      try await store.write(Array(answers.prefix(256)))
      try await store.write(Array(answers.dropFirst(256)))
      let seen = Watched<[StoredAnswer]>([])
      try await store.visit { page in
        seen.change { $0 += page }
        return true
      }
      try check(Set(seen.value) == Set(answers), "a visit showed \(seen.value.count) answers of \(answers.count)")
      let pages = Watched(0)
      try await store.visit { _ in
        pages.change { $0 += 1 }
        return false
      }
      try check(pages.value == 1, "a visit that was to end after a page showed \(pages.value)")
    },
    AnswerStoreContract("calls may come while others are under way") { store in
      let answers = many(64)
      try await withThrowingTaskGroup { group in
        for answer in answers {
          group.addTask {
            try await store.write([answer])
            try await expect([answer], from: store, of: [answer.question])
          }
        }
        try await group.waitForAll()
      }
      try await expect(answers, from: store, of: answers.map(\.question))
    },
  ]
}
