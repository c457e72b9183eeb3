// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ServerHealthTests {
  private func failed(
    _ health: inout ServerHealth, _ count: Int, at seconds: Double,
    _ kind: ProviderFailure.Kind = .transport
  ) {
    for number in 0..<count {
      health.asked(at: Sample.at(seconds))
      health.failed(kind, of: Self.lookup(number, at: seconds), in: .milliseconds(10), at: Sample.at(seconds))
    }
  }

  /// One of many lookups, all of different names.
  static func lookup(_ number: Int, at seconds: Double = 0) -> ServerHealth.LookupKey {
    ServerHealth.LookupKey(host: Sample.name("n\(number).example"), end: Sample.at(seconds + 5))
  }

  // MARK: The breaker

  @Test func `three transport failures in a row open the breaker for 30 s`() {
    var health = ServerHealth()
    failed(&health, 2, at: 0)
    #expect(health.breaker(at: Sample.at(0)) == .usable)
    failed(&health, 1, at: 1)
    #expect(health.breaker(at: Sample.at(1)) == .open(since: Sample.at(1)))
    #expect(health.breaker(at: Sample.at(31).before) == .open(since: Sample.at(1)))
    #expect(health.breaker(at: Sample.at(31)) == .probe)
  }

  @Test func `what this machine could not send opens no breaker, and ends a probe without a word about the server`() {
    var health = ServerHealth()
    failed(&health, 10, at: 0, .local)
    #expect(health.breaker(at: Sample.at(0)) == .usable && health.failuresInARow == 0)
    #expect(health.queries == 10 && health.failures == 10)
    failed(&health, 3, at: 1)
    failed(&health, 1, at: 31, .local)
    #expect(health.breaker(at: Sample.at(31)) == .probe)
  }

  @Test func `a reply between failures begins the count anew`() {
    var health = ServerHealth()
    failed(&health, 2, at: 0)
    health.answered(in: .milliseconds(5), at: Sample.at(0))
    failed(&health, 2, at: 1)
    #expect(health.breaker(at: Sample.at(1)) == .usable)
    #expect(health.failuresInARow == 2)
  }

  @Test func `one lookup counts once, whatever it asked and however its failures mix with those of others`() {
    var health = ServerHealth()
    for number in [0, 1, 0, 1, 0] {
      health.failed(.transport, of: Self.lookup(number), in: .zero, at: Sample.at(0))
    }
    #expect(health.failuresInARow == 2)
    #expect(health.breaker(at: Sample.at(0)) == .usable)
    health.failed(.transport, of: Self.lookup(2), in: .zero, at: Sample.at(1))
    #expect(health.breaker(at: Sample.at(1)) == .open(since: Sample.at(1)))
  }

  @Test func `after a reply a lookup that failed before counts anew`() {
    var health = ServerHealth()
    for number in [0, 1] { health.failed(.transport, of: Self.lookup(number), in: .zero, at: Sample.at(0)) }
    health.answered(in: .milliseconds(5), at: Sample.at(0))
    for number in [0, 1, 2] { health.failed(.transport, of: Self.lookup(number), in: .zero, at: Sample.at(1)) }
    #expect(health.breaker(at: Sample.at(1)) == .open(since: Sample.at(1)))
  }

  @Test func `queries are counted when they end, and failures are those without a reply`() {
    var health = ServerHealth()
    #expect((health.queries, health.failures) == (0, 0))
    health.answered(in: .milliseconds(5), at: Sample.at(0))
    #expect((health.queries, health.failures) == (1, 0))
    failed(&health, 1, at: 0, .response)
    #expect((health.queries, health.failures) == (2, 0))
    failed(&health, 1, at: 0, .transport)
    #expect((health.queries, health.failures) == (3, 1))
    failed(&health, 1, at: 0, .rateLimited(retryAfter: nil))
    #expect((health.queries, health.failures) == (4, 2))
    failed(&health, 1, at: 0, .cancelled)
    #expect((health.queries, health.failures) == (4, 2))
  }

  @Test func `another lookup of the same name counts anew`() {
    var health = ServerHealth()
    for end in [5.0, 6, 7] {
      let lookup = ServerHealth.LookupKey(host: ResolverFixture.host, end: Sample.at(end))
      health.failed(.transport, of: lookup, in: .zero, at: Sample.at(0))
    }
    #expect(health.breaker(at: Sample.at(0)) == .open(since: Sample.at(0)))
  }

  @Test func `an RCODE is a reply, and never counts`() {
    var health = ServerHealth()
    failed(&health, 20, at: 0, .response)
    #expect(health.breaker(at: Sample.at(0)) == .usable)
    failed(&health, 2, at: 0)
    failed(&health, 1, at: 0, .response)
    failed(&health, 1, at: 0)
    #expect(health.breaker(at: Sample.at(0)) == .usable)
  }

  @Test func `429 never counts, and holds the server back for as long as it says`() {
    var health = ServerHealth()
    failed(&health, 20, at: 0, .rateLimited(retryAfter: .seconds(7)))
    #expect(health.breaker(at: Sample.at(0)) == .usable)
    #expect(health.pause?.end == Sample.at(7))
    failed(&health, 1, at: 10, .rateLimited(retryAfter: nil))
    #expect(health.pause?.end == Sample.at(11))
  }

  @Test(arguments: [nil, Duration.zero, .milliseconds(999), .seconds(1)])
  func `a pause takes a second at least, whatever it says`(_ retryAfter: Duration?) {
    var health = ServerHealth()
    failed(&health, 1, at: 0, .rateLimited(retryAfter: retryAfter))
    #expect(health.pause?.heldUntil(at: Sample.at(0)) == Sample.at(1))
  }

  @Test(arguments: [nil, Duration.seconds(2)])
  func `429 to what was asked before shortens no pause that the server wants`(_ retryAfter: Duration?) {
    var health = ServerHealth()
    failed(&health, 1, at: 0, .rateLimited(retryAfter: .seconds(60)))
    failed(&health, 1, at: 0.1, .rateLimited(retryAfter: retryAfter))
    #expect(health.pause?.end == Sample.at(60))
  }

  @Test func `a query that the caller gave up says nothing`() {
    var health = ServerHealth()
    failed(&health, 20, at: 0, .cancelled)
    #expect(health == ServerHealth())
  }

  @Test func `after 30 s there is one probe, and no second one beside it`() {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    health.asked(at: Sample.at(30))
    #expect(health.breaker(at: Sample.at(30)) == .open(since: Sample.at(0)))
    #expect(health.breaker(at: Sample.at(31)) == .open(since: Sample.at(0)))
  }

  @Test func `a probe that is answered closes the breaker`() {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    health.asked(at: Sample.at(30))
    health.answered(in: .milliseconds(5), at: Sample.at(0))
    #expect(health.breaker(at: Sample.at(30)) == .usable)
    failed(&health, 2, at: 31)
    #expect(health.breaker(at: Sample.at(31)) == .usable)
  }

  @Test func `a probe that is answered with an RCODE closes it too`() {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    failed(&health, 1, at: 30, .response)
    #expect(health.breaker(at: Sample.at(30)) == .usable)
  }

  @Test func `a probe that fails opens it for 30 s more`() {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    failed(&health, 1, at: 40)
    #expect(health.breaker(at: Sample.at(40)) == .open(since: Sample.at(40)))
    #expect(health.breaker(at: Sample.at(70).before) == .open(since: Sample.at(40)))
    #expect(health.breaker(at: Sample.at(70)) == .probe)
  }

  @Test(arguments: [ProviderFailure.Kind.cancelled, .rateLimited(retryAfter: nil)])
  func `a probe without an outcome leaves the next lookup the probe`(_ kind: ProviderFailure.Kind) {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    failed(&health, 1, at: 30, kind)
    #expect(health.breaker(at: Sample.at(31)) == .probe)
  }

  @Test func `a probe by one who has little time, to whom nothing comes, is the only one for 30 s too`() {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    health.asked(at: Sample.at(30))
    health.wasSilent(to: Sample.name("a.example"), for: .milliseconds(500), at: Sample.at(30.5))
    #expect(health.breaker(at: Sample.at(60).before) == .open(since: Sample.at(0)))
    #expect(health.breaker(at: Sample.at(60)) == .probe)
  }

  /// Names, each with when it was given up, after how many seconds; and whether that opens the breaker.
  private static let silences: [(of: [(name: String, at: Double, after: Double)], opens: Bool)] = [
    ([("a", 1, 0.5), ("b", 2, 0.5), ("c", 3, 0.5)], true), ([("a", 1, 0.5), ("b", 2, 0.5)], false),
    ([("a", 1, 0.5), ("a", 2, 0.5), ("a", 3, 0.5)], false), ([("a", 1, 0.5), ("b", 2, 0.5), ("a", 3, 0.5)], false),
    // Those who were there at the same time have seen the same silence.
    ([("a", 1, 0.5), ("b", 1.1, 0.5), ("c", 1.2, 0.5)], false),
    ([("a", 1, 0.5), ("b", 1.5, 0.5), ("c", 2, 0.5)], true),
    // Not longer than replies mostly take.
    ([("a", 1, 0.1), ("b", 2, 0.1), ("c", 3, 0.1)], false), ([("a", 1, 0.15), ("b", 2, 0.15), ("c", 3, 0.15)], true),
  ]

  @Test(arguments: silences.indices)
  func `nothing in the little time that callers have opens the breaker where several names in a row get nothing`(
    _ row: Int
  ) {
    var health = ServerHealth()
    for silence in Self.silences[row].of {
      health.wasSilent(
        to: Sample.name("\(silence.name).example"), for: .seconds(silence.after), at: Sample.at(silence.at))
    }
    #expect((health.openedAt != nil) == Self.silences[row].opens)
    #expect(health.queries == 0 && health.failures == 0 && health.failuresInARow == 0)
  }

  @Test func `a reply between them begins anew`() {
    var health = ServerHealth()
    for number in 0..<8 {
      if number % 2 == 0 { health.answered(in: .milliseconds(5), at: Sample.at(0)) }
      health.wasSilent(to: Sample.name("n\(number).example"), for: .seconds(0.5), at: Sample.at(Double(number)))
    }
    #expect(health.breaker(at: Sample.at(8)) == .usable)
  }

  // MARK: Pauses

  @Test(
    arguments: [
      (.response, nil), (.transport, nil), (.rateLimited(retryAfter: .seconds(3)), 8.5),
      // They have found out nothing: the next query does.
      (.cancelled, nil), (.local, nil),
    ] as [(ProviderFailure.Kind, Double?)])
  func `how the first query after a pause ends says what becomes of the others`(
    _ kind: ProviderFailure.Kind, _ until: Double?
  ) {
    var health = ServerHealth()
    failed(&health, 1, at: 0, .rateLimited(retryAfter: .seconds(2)))
    health.asked(at: Sample.at(5))
    #expect(health.isTried(at: Sample.at(5)))
    health.failed(kind, of: Self.lookup(1), in: .zero, at: Sample.at(5.5))
    #expect(health.pause?.heldUntil(at: Sample.at(5.5)) == until.map(Sample.at))
    #expect((health.pause == nil) == (kind == .transport))
  }

  @Test func `a server that fails behind its pause is not held back, and one that fails within it still is`() {
    var health = ServerHealth()
    failed(&health, 1, at: 0, .rateLimited(retryAfter: .seconds(2)))
    failed(&health, 1, at: 1)
    #expect(health.pause?.end == Sample.at(2))
    failed(&health, 1, at: 2)
    #expect(health.pause == nil)
  }

  @Test func `a probe that never ends is not waited for for ever`() {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    health.asked(at: Sample.at(30))
    #expect(health.breaker(at: Sample.at(60)) == .probe)
  }

  @Test func `a server that is asked while its breaker is open for want of others stays in its place`() {
    var health = ServerHealth()
    failed(&health, 3, at: 0)
    failed(&health, 5, at: 10)
    #expect(health.breaker(at: Sample.at(10)) == .open(since: Sample.at(0)))
    #expect(health.breaker(at: Sample.at(30)) == .probe)
  }
}
