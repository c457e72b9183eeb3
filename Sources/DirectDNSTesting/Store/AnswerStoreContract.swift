// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// What every ``/DirectDNS/AnswerStore`` must do, one promise at a time.
///
/// Run it against your own store, a new and empty one for each promise:
///
/// ```swift
/// @Test(arguments: AnswerStoreContract.all)
/// func `the contract holds`(_ promise: AnswerStoreContract) async throws {
///   try await promise.check(MyStore())
/// }
/// ```
public struct AnswerStoreContract: Sendable, CustomStringConvertible {
  /// A promise that was broken.
  public struct Violation: Error, CustomStringConvertible {
    /// What was found, and what was expected.
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
  /// - Throws: a ``Violation``, or what the store threw.
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
    AnswerStoreContract("of answers that are to be newer those are kept that were asked for later") { store in
      let question = a("www.example.net")
      let known = answer(question, "192.0.2.1")
      func later(_ milliseconds: Int, _ address: String) -> StoredAnswer {
        var answer = answer(question, address)
        (answer.asked, answer.expires) = (known.asked + .milliseconds(milliseconds), known.expires + .seconds(1))
        return answer
      }
      let first = try await store.writeNewer([known, answer(a("other.example.net"), "192.0.2.9")])
      try check(first == 2, "\(first) of 2 were kept where nothing was known")
      for milliseconds in [-1, 0] {
        let kept = try await store.writeNewer([later(milliseconds, "192.0.2.2")])
        try check(kept == 0, "\(kept) were kept that were no newer")
        try await expect([known], from: store, of: [question])
      }
      let newer = later(1, "192.0.2.3")
      let kept = try await store.writeNewer([newer])
      try check(kept == 1, "an answer that is newer by a millisecond was not kept")
      try await expect([newer], from: store, of: [question])
      let none = try await store.writeNewer([])
      try check(none == 0, "\(none) were kept of none")
    },
    AnswerStoreContract("an answer from the future is newer than none that is not") { store in
      let right = answer(a("www.example.net"), "192.0.2.1")
      func fromFuture(_ seconds: Int, _ address: String) -> StoredAnswer {
        var answer = answer(right.question, address)
        answer.asked = answer.asked + .seconds(seconds)
        (answer.expires, answer.gone) = (answer.asked + .seconds(300), answer.asked + .seconds(86_400))
        return answer
      }
      let ahead = fromFuture(31_536_000, "192.0.2.2")
      let further = fromFuture(63_072_000, "192.0.2.3")
      for (answer, kept, left) in [
        (ahead, 1, ahead), (further, 1, further), (ahead, 0, further), (right, 1, right), (further, 0, right),
      ] {
        let count = try await store.writeNewer([answer])
        try check(count == kept, "\(count) were kept, and not \(kept), of \(answer.text)")
        try await expect([left], from: store, of: [right.question])
      }
      try await store.write([ahead])
      try await store.removeOlder([ahead.question: right.asked])
      try await expect([], from: store, of: [ahead.question])
    },
    AnswerStoreContract("of many answers at once that are to be newer the newest stays") { store in
      let question = a("www.example.net")
      let answers = (0..<32).map { number in
        var answer = answer(question, "192.0.2.\(number)")
        answer.asked = answer.asked - .milliseconds(number * 1000)
        return answer
      }
      let newest = answers.max { $0.asked < $1.asked }
      try await withThrowingTaskGroup { group in
        for answer in answers.shuffled() { group.addTask { _ = try await store.writeNewer([answer]) } }
        try await group.waitForAll()
      }
      try await expect(newest.map { [$0] } ?? [], from: store, of: [question])
    },
    AnswerStoreContract("of what is to be removed as older that stays which was asked for later") { store in
      let known = answer(a("www.example.net"), "192.0.2.1")
      try await store.write([known])
      try await store.removeOlder([known.question: known.asked - .milliseconds(1), a("two.example.net"): known.asked])
      try await expect([known], from: store, of: [known.question])
      try await store.removeOlder([known.question: known.asked])
      try await expect([], from: store, of: [known.question])
      try await store.removeOlder([:])
    },
    AnswerStoreContract("a checkpoint changes nothing that is read") { store in
      let answers = many(10)
      await store.checkpoint()
      try await store.write(answers)
      await store.checkpoint()
      try await expect(answers, from: store, of: answers.map(\.question))
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
      let seen = try await store.allAnswers()
      try check(Set(seen) == Set(answers), "a visit showed \(seen.count) answers of \(answers.count)")
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
