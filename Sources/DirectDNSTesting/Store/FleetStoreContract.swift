// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// What every ``/DirectDNS/FleetAnswerStore`` must do beyond the ``AnswerStoreContract``: leases.
public struct FleetStoreContract: Sendable, CustomStringConvertible {
  /// The promise, in words.
  public let description: String
  private let body: @Sendable (any FleetAnswerStore) async throws -> Void

  private init(_ description: String, _ body: @escaping @Sendable (any FleetAnswerStore) async throws -> Void) {
    self.description = description
    self.body = body
  }

  /// Checks the promise.
  ///
  /// - Parameter store: an empty store.
  /// - Throws: an ``AnswerStoreContract/Violation``, or what the store threw.
  public func check(_ store: any FleetAnswerStore) async throws { try await body(store) }

  /// Every promise of a store with leases.
  public static let all = [
    FleetStoreContract("of two who want a lease one gets it") { store in
      try await expect(true, store, "first")
      try await expect(false, store, "second")
    },
    FleetStoreContract("of many at once one gets it") { store in
      let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
        for holder in 0..<20 {
          group.addTask { try await store.takeLease(on: question, holder: "\(holder)", for: .seconds(60)) }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      try AnswerStoreContract.check(taken == 1, "\(taken) of 20 got the lease")
    },
    FleetStoreContract("a lease that its holder ended is free") { store in
      try await expect(true, store, "first")
      try await store.endLease(on: question, holder: "first")
      try await expect(true, store, "second")
    },
    FleetStoreContract("nobody ends another's lease") { store in
      try await expect(true, store, "first")
      try await store.endLease(on: question, holder: "second")
      try await expect(false, store, "second")
    },
    FleetStoreContract("leases on other questions are other leases, and are no answers") { store in
      try await expect(true, store, "first")
      let six = AddressQuestion(question.host, .ipv6)
      let other = try await store.takeLease(on: six, holder: "second", for: .seconds(60))
      try AnswerStoreContract.check(other, "the lease on A kept the one on AAAA")
      try await AnswerStoreContract.expect([], from: store, of: [question, six])
      let seen = try await store.allAnswers()
      try AnswerStoreContract.check(seen.isEmpty, "a visit showed \(seen.map(\.text)) beside the leases")
    },
    FleetStoreContract("a lease ends by itself") { store in
      let isTaken = try await store.takeLease(on: question, holder: "first", for: .milliseconds(30))
      try AnswerStoreContract.check(isTaken, "a free lease was not to be had")
      let clock = SystemClock()
      let end = clock.now + .seconds(10)
      while try await !store.takeLease(on: question, holder: "second", for: .seconds(60)) {
        try AnswerStoreContract.check(clock.now < end, "a lease for 30 ms was still held after 10 s")
        try await clock.sleep(until: clock.now + .milliseconds(5))
      }
    },
  ]

  private static let question = AnswerStoreContract.a("www.example.net")

  private static func expect(_ isTaken: Bool, _ store: any FleetAnswerStore, _ holder: String) async throws {
    let seen = try await store.takeLease(on: question, holder: holder, for: .seconds(60))
    try AnswerStoreContract.check(seen == isTaken, "\(holder) \(seen ? "got" : "did not get") the lease")
  }
}
