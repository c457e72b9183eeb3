// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct ProviderNoticeTests {
  private static let down = "no connection: refused"
  private let fixture = CommandFixture()

  private func query(
    _ outcome: String, for host: String = "www.example.com", of provider: String = "one",
    _ failure: ProviderFailure.Kind? = .transport
  ) throws -> ResolverEvent {
    let question = AddressQuestion(try HostName(host), .ipv4)
    var query = ResolverEvent.Query(
      provider: provider, origin: "https://one.example", question: question, outcome: outcome, isAnswer: failure == nil)
    query.failure = failure
    return .query(query)
  }

  private func failures(_ count: Int) throws -> [ResolverEvent] {
    try (0..<count).map { _ in try query(Self.down) }
  }

  private func answer() throws -> ResolverEvent { try query("1 address", nil) }

  @Test func `a provider that fails again and again is told once, and again when it answers`() throws {
    let notice = ProviderNotice(fixture.context)
    notice.begin()
    let observer = notice.observer(passingTo: nil)
    try failures(5).forEach(observer)
    #expect(fixture.errors.text == "")
    try failures(20).forEach(observer)
    let told = "dnsctl: Provider one has failed 6 times in a row (\(Self.down)). See dnsctl check.\n"
    #expect(fixture.errors.text == told)
    observer(try answer())
    observer(try answer())
    let again = "dnsctl: Provider one answers again.\n"
    #expect(fixture.errors.text == told + again)
    try failures(6).forEach(observer)
    #expect(fixture.errors.text == told + again + told)
  }

  @Test func `one that answers now and then is not told`() throws {
    let notice = ProviderNotice(fixture.context)
    notice.begin()
    let observer = notice.observer(passingTo: nil)
    for _ in 0..<3 {
      try failures(5).forEach(observer)
      observer(try answer())
    }
    #expect(fixture.errors.text == "")
  }

  @Test(
    arguments: [
      ("cancelled", .cancelled, "one"), ("shut down", .cancelled, "one"),
      ("HTTP 429", .rateLimited(retryAfter: nil), "one"), ("no answer", .transport, "system"),
    ] as [(String, ProviderFailure.Kind, String)])
  func `the loser of a race, what wants fewer queries, and the system's DNS count for nothing`(
    _ outcome: String, _ failure: ProviderFailure.Kind, _ provider: String
  ) throws {
    let notice = ProviderNotice(fixture.context)
    notice.begin()
    let observer = notice.observer(passingTo: nil)
    for _ in 0..<20 { observer(try query(outcome, of: provider, failure)) }
    #expect(fixture.errors.text == "")
  }

  @Test func `a name that a provider cannot answer counts once, however often it is asked for`() throws {
    let notice = ProviderNotice(fixture.context)
    notice.begin()
    let observer = notice.observer(passingTo: nil)
    for number in 1...5 {
      for _ in 0..<4 { observer(try query("SERVFAIL", for: "\(number).example", .response)) }
    }
    #expect(fixture.errors.text == "")
    observer(try query("SERVFAIL", for: "6.example", .response))
    #expect(fixture.errors.text == "dnsctl: Provider one has failed 6 times in a row (SERVFAIL). See dnsctl check.\n")
  }

  @Test func `what has failed before it begins is told then, and the next observer is told all`() throws {
    let passed = Locked(0)
    let notice = ProviderNotice(fixture.context)
    let observer = notice.observer { _ in passed.withLock { $0 += 1 } }
    try failures(7).forEach(observer)
    observer(.evicted(names: 1))
    #expect(fixture.errors.text == "" && passed.withLock(\.self) == 8)
    notice.begin()
    #expect(fixture.errors.text.hasPrefix("dnsctl: Provider one has failed 7 times in a row"))
  }

  @Test func `of what comes at once, that it answers again is not told before that it has failed`() async throws {
    let failures = try failures(6)
    let answer = try answer()
    for _ in 0..<200 {
      let fixture = CommandFixture()
      let notice = ProviderNotice(fixture.context)
      notice.begin()
      let observer = notice.observer(passingTo: nil)
      failures.dropLast().forEach(observer)
      await withTaskGroup(of: Void.self) { group in
        for event in [failures[5], answer] { group.addTask { observer(event) } }
      }
      let lines = fixture.errors.text.split(separator: "\n")
      #expect(lines.isEmpty || lines.count == 2 && lines[0].contains("has failed 6 times"), "\(lines)")
    }
  }

  @Test func `a reason from outside shows its invisible characters`() throws {
    let notice = ProviderNotice(fixture.context)
    notice.begin()
    let observer = notice.observer(passingTo: nil)
    for _ in 0..<6 { observer(try query("answered \u{1B}[2J")) }
    #expect(!fixture.errors.text.contains("\u{1B}") && fixture.errors.text.contains("[2J"))
  }
}
