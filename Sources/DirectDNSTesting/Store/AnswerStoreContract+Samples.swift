// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The samples and checks of the contract.
extension AnswerStoreContract {
  static func check(_ holds: Bool, _ otherwise: @autoclosure () -> String) throws {
    guard holds else { throw Violation(description: otherwise()) }
  }

  static func expect(_ answers: [StoredAnswer], from store: any AnswerStore, of questions: [AddressQuestion])
    async throws
  {
    let read = try await store.read(questions)
    try check(
      read.count == answers.count && Set(read) == Set(answers),
      "read \(read.map(\.text)) of \(questions), and \(answers.map(\.text)) was written")
  }

  static func a(_ name: String) -> AddressQuestion { AddressQuestion(host(name), .ipv4) }

  static func aaaa(_ name: String) -> AddressQuestion { AddressQuestion(host(name), .ipv6) }

  // The contract's own names: an invalid one is a mistake in the source, and is found at its first use.
  static func host(_ name: String) -> HostName {
    // Names come from this file alone.
    do { return try HostName(name) } catch { preconditionFailure("\(error)") }
  }

  static func answer(_ question: AddressQuestion, _ addresses: String...) -> StoredAnswer {
    answer(question, .addresses(addresses.compactMap { IPAddress($0) }))
  }

  static func answer(
    _ question: AddressQuestion, _ content: Answer.Content, alias: String? = nil
  ) -> StoredAnswer {
    let now = SystemClock().wallNow
    return StoredAnswer(
      question, content, canonicalName: alias.map(host), provider: "alidns", asked: now - .seconds(1),
      expires: now + .seconds(300), gone: now + .seconds(86_400))
  }

  static func many(_ count: Int) -> [StoredAnswer] {
    (0..<count).map { answer(a("host-\($0).example.net"), "192.0.2.\($0 % 256)") }
  }

  /// Answers of every kind.
  static var samples: [StoredAnswer] {
    let label = String(repeating: "a", count: 63)
    let longest = [label, label, label, String(repeating: "a", count: 61)].joined(separator: ".")
    return [
      answer(a("one.example.net"), "192.0.2.1"),
      answer(a("two.example.net"), "192.0.2.2", "192.0.2.1", "255.255.255.255"),
      answer(aaaa("six.example.net"), "2001:db8::1", "::ffff:192.0.2.1", "::"),
      answer(a("alias.example.net"), .addresses([.ipv4(1)]), alias: "end.example.com"),
      answer(a("missing.example.net"), .negative(.nameNotFound)),
      answer(aaaa("one.example.net"), .negative(.noAddress), alias: "end.example.com"),
      answer(
        aaaa(longest), .addresses((0..<64).map { .ipv6(high: .max, low: UInt64($0)) }), alias: longest),
      answer(a("_service.r3---sn-x.example.net"), "192.0.2.3"),
    ]
  }
}
