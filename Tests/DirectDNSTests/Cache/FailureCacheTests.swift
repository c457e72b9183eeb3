// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct FailureCacheTests {
  private let question = AddressQuestion(Sample.name("www.example.net"), .ipv4)
  private let error = DirectDNSError(.upstreamFailed, "no")

  @Test func `a failure is remembered for 1 s and no longer`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 10)
    #expect(memory.error(for: question, at: Sample.at(0)) == nil)
    memory.note(error, for: question, at: Sample.at(10))
    #expect(memory.error(for: question, at: Sample.at(10))?.message == "no")
    #expect(memory.error(for: question, at: Sample.at(11).before) != nil)
    #expect(memory.error(for: question, at: Sample.at(11)) == nil)
  }

  @Test func `a question may be asked again when its failure is forgotten, or its answer may be refreshed`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 10)
    #expect(memory.refreshAt(question) == nil)
    memory.note(error, for: question, at: Sample.at(10))
    #expect(memory.refreshAt(question) == Sample.at(11))
    memory.note(error, for: question, recheck: .seconds(30), at: Sample.at(20))
    #expect(memory.refreshAt(question) == Sample.at(50))
  }

  @Test func `each further failure is remembered for twice as long, to 30 s`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 10)
    var now = Sample.at(0)
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
      memory.note(error, for: question, at: now)
      now = now + .seconds(seconds)
      #expect(memory.error(for: question, at: now.before) != nil, "\(seconds)")
      #expect(memory.error(for: question, at: now) == nil, "\(seconds)")
    }
  }

  @Test func `each question has its own failures`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 10)
    memory.note(error, for: question, at: Sample.at(0))
    #expect(memory.error(for: AddressQuestion(question.host, .ipv6), at: Sample.at(0)) == nil)
    #expect(memory.error(for: AddressQuestion(Sample.name("example.net"), .ipv4), at: Sample.at(0)) == nil)
  }

  @Test func `what was forgotten begins at 1 s again`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 10)
    for _ in 0..<5 { memory.note(error, for: question, at: Sample.at(0)) }
    memory.forget(question)
    #expect(memory.error(for: question, at: Sample.at(0)) == nil)
    memory.note(error, for: question, at: Sample.at(0))
    #expect(memory.error(for: question, at: Sample.at(1)) == nil)
    memory.note(error, for: question, at: Sample.at(1))
    memory.forgetAll()
    #expect(memory.error(for: question, at: Sample.at(1)) == nil)
  }

  @Test func `a policy whose failures have no TTL remembers none`() {
    var memory = FailureCache(policy: CachePolicy(minimumFailureTTL: .zero), capacity: 10)
    memory.note(error, for: question, at: Sample.at(0))
    #expect(memory.error(for: question, at: Sample.at(0)) == nil)
  }

  @Test func `a flood of failing names does not make it grow, and the last one is remembered`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 8)
    let questions = (0..<100).map { AddressQuestion(Sample.name("n\($0).example.net"), .ipv4) }
    for question in questions {
      memory.note(error, for: question, at: Sample.at(0))
      #expect(memory.error(for: question, at: Sample.at(0)) != nil)
      #expect(questions.filter { memory.error(for: $0, at: Sample.at(0)) != nil }.count <= 8)
    }
  }

  @Test(arguments: [1.0, 1.4])
  func `what is over makes room before anything that is not`(_ present: Double) {
    var memory = FailureCache(policy: CachePolicy(), capacity: 2)
    let other = AddressQuestion(Sample.name("other.example.net"), .ipv4)
    let third = AddressQuestion(Sample.name("third.example.net"), .ipv4)
    memory.note(error, for: question, at: Sample.at(0))
    memory.note(error, for: other, at: Sample.at(0.5))
    memory.note(error, for: third, at: Sample.at(present))
    #expect(memory.error(for: other, at: Sample.at(present)) != nil)
    #expect(memory.error(for: third, at: Sample.at(present)) != nil)
  }

  // MARK: Expired answers (RFC 8767)

  @Test func `an expired answer is not refreshed for 30 s, while the error is told for 1 s`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 10)
    memory.note(error, for: question, recheck: .seconds(30), at: Sample.at(0))
    #expect(memory.error(for: question, at: Sample.at(1)) == nil)
    #expect(!memory.mayRefresh(question, at: Sample.at(30).before))
    #expect(memory.mayRefresh(question, at: Sample.at(30)))
    memory.forgetWait(of: question)
    #expect(memory.mayRefresh(question, at: Sample.at(1)))
  }

  @Test func `a flood of failing names ends no wait of an expired answer`() {
    var memory = FailureCache(policy: CachePolicy(), capacity: 8)
    memory.note(error, for: question, recheck: .seconds(30), at: Sample.at(0))
    for number in 0..<100 {
      memory.note(error, for: AddressQuestion(Sample.name("n\(number).example.net"), .ipv4), at: Sample.at(0))
    }
    #expect(!memory.mayRefresh(question, at: Sample.at(29)))
  }

  // MARK: Servers that are back

  private func question(_ number: Int) -> AddressQuestion {
    AddressQuestion(Sample.name("n\(number).example.net"), .ipv4)
  }

  private func failing(_ count: Int, by servers: [FailureCache.Server] = [.provider(1)]) -> FailureCache {
    var memory = FailureCache(policy: CachePolicy(), capacity: 10_000)
    for number in 0..<count {
      memory.note(error, for: question(number), by: servers, recheck: .seconds(30), at: Sample.at(0))
    }
    return memory
  }

  @Test(arguments: [(1, 0.0), (2, 0.02), (11, 0.2), (100, 1.98), (1000, 1.998), (10_000, 1.9998)])
  func `the waits of what a server failed end with its success, 20 ms apart and within 2 s`(
    _ count: Int, _ last: Double
  ) {
    var memory = failing(count)
    #expect(memory.answered(by: .provider(1), at: Sample.at(10)).count == count)
    #expect(memory.mayRefresh(question(0), at: Sample.at(10)))
    #expect(memory.mayRefresh(question(count - 1), at: Sample.at(10 + last)))
    if count > 1 { #expect(!memory.mayRefresh(question(count - 1), at: Sample.at(10 + last).before)) }
    // Evenly: never more than their share.
    let half = (0..<count).count { memory.mayRefresh(question($0), at: Sample.at(10 + last / 2)) }
    #expect(half <= count / 2 + 1)
    #expect(memory.answered(by: .provider(1), at: Sample.at(11)).count == 0)
  }

  @Test func `a failure is remembered for a second, whatever its server answers meanwhile`() {
    var memory = failing(1)
    #expect(memory.answered(by: .provider(1), at: Sample.at(0.2)).count == 1)
    #expect(
      memory.error(for: question(0), at: Sample.at(0.9)) != nil && !memory.mayRefresh(question(0), at: Sample.at(0.9)))
    #expect(memory.error(for: question(0), at: Sample.at(1)) == nil && memory.mayRefresh(question(0), at: Sample.at(1)))
  }

  @Test func `each of the servers that failed it ends its wait, and no other does`() {
    for (server, ends) in [
      (FailureCache.Server.provider(1), true), (.provider(2), true), (.provider(3), false), (.system, false),
    ] {
      var memory = failing(1, by: [.provider(1), .provider(2)])
      #expect(memory.answered(by: server, at: Sample.at(10)).count == (ends ? 1 : 0))
      #expect(memory.mayRefresh(question(0), at: Sample.at(10)) == ends)
    }
  }

  @Test func `no wait ends later than it would have`() {
    var memory = failing(1000)
    _ = memory.answered(by: .provider(1), at: Sample.at(29.5))
    for number in 0..<1000 { #expect(memory.mayRefresh(question(number), at: Sample.at(30))) }
  }

  @Test func `a wait that ends by itself is none that a success has ended`() {
    var memory = failing(1)
    #expect(memory.releasedAt(question(0)) == nil)
    #expect(memory.answered(by: .provider(1), at: Sample.at(30)).count == 0)
    #expect(memory.releasedAt(question(0)) == nil)
  }

  @Test func `a try that follows a success and is in vain is followed by longer pauses`() {
    var memory = failing(1)
    var now = Sample.at(10)
    for seconds in [0, 2, 4, 8, 16, 30, 30] {
      _ = memory.answered(by: .provider(1), at: now)
      if seconds > 0 { #expect(!memory.mayRefresh(question(0), at: (now + .seconds(seconds)).before), "\(seconds)") }
      now = now + .seconds(seconds)
      #expect(memory.mayRefresh(question(0), at: now), "\(seconds)")
      memory.note(error, for: question(0), by: [.provider(1)], recheck: .seconds(30), at: now)
    }
  }

  @Test func `an answer makes good for what was in vain`() {
    var memory = failing(1)
    for _ in 0..<4 {
      _ = memory.answered(by: .provider(1), at: Sample.at(10))
      memory.note(error, for: question(0), by: [.provider(1)], recheck: .seconds(30), at: Sample.at(10))
    }
    memory.forget(question(0))
    memory.note(error, for: question(0), by: [.provider(1)], recheck: .seconds(30), at: Sample.at(20))
    _ = memory.answered(by: .provider(1), at: Sample.at(21))
    #expect(memory.mayRefresh(question(0), at: Sample.at(21)))
    #expect(memory.releasedAt(question(0)) == Sample.at(21))
  }

  @Test func `both families of a name may be asked for at the same instant`() {
    var memory = failing(3)
    for number in 0..<3 {
      memory.note(
        error, for: question(number).ofOtherFamily, by: [.provider(1)], recheck: .seconds(30), at: Sample.at(0.5))
    }
    #expect(memory.answered(by: .provider(1), at: Sample.at(1)).count == 6)
    for number in 0..<3 {
      let instant = memory.releasedAt(question(number))
      #expect(instant == Sample.at(max(1.5, 1 + 0.02 * Double(number))))
      #expect(memory.releasedAt(question(number).ofOtherFamily) == instant)
    }
  }

  @Test func `what was forgotten waits for nobody`() {
    var memory = failing(3)
    memory.forget(question(1))
    #expect(memory.answered(by: .provider(1), at: Sample.at(10)).count == 2)
    #expect(memory.releasedAt(question(1)) == nil)
    memory = failing(3)
    memory.forgetAll()
    #expect(memory.answered(by: .provider(1), at: Sample.at(10)).count == 0)
  }
}
