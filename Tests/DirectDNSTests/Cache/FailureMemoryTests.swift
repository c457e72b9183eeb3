import Testing

@testable import DirectDNS

struct FailureMemoryTests {
  private let question = AddressQuestion(Sample.name("www.example.net"), .ipv4)
  private let error = DirectDNSError(.upstreamFailed, "no")

  @Test func `a failure is remembered for 1 s and no longer`() {
    var memory = FailureMemory(policy: CachePolicy(), capacity: 10)
    #expect(memory.error(for: question, at: Sample.at(0)) == nil)
    memory.note(error, for: question, at: Sample.at(10))
    #expect(memory.error(for: question, at: Sample.at(10))?.message == "no")
    #expect(memory.error(for: question, at: Sample.at(11).before) != nil)
    #expect(memory.error(for: question, at: Sample.at(11)) == nil)
  }

  @Test func `each further failure is remembered for twice as long, to 30 s`() {
    var memory = FailureMemory(policy: CachePolicy(), capacity: 10)
    var now = Sample.at(0)
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
      memory.note(error, for: question, at: now)
      now = now + .seconds(seconds)
      #expect(memory.error(for: question, at: now.before) != nil, "\(seconds)")
      #expect(memory.error(for: question, at: now) == nil, "\(seconds)")
    }
  }

  @Test func `each question has its own failures`() {
    var memory = FailureMemory(policy: CachePolicy(), capacity: 10)
    memory.note(error, for: question, at: Sample.at(0))
    #expect(memory.error(for: AddressQuestion(question.host, .ipv6), at: Sample.at(0)) == nil)
    #expect(memory.error(for: AddressQuestion(Sample.name("example.net"), .ipv4), at: Sample.at(0)) == nil)
  }

  @Test func `what was forgotten begins at 1 s again`() {
    var memory = FailureMemory(policy: CachePolicy(), capacity: 10)
    for _ in 0..<5 { memory.note(error, for: question, at: Sample.at(0)) }
    memory.forget(question)
    #expect(memory.error(for: question, at: Sample.at(0)) == nil)
    memory.note(error, for: question, at: Sample.at(0))
    #expect(memory.error(for: question, at: Sample.at(1)) == nil)
    memory.note(error, for: question, at: Sample.at(1))
    memory.forgetAll()
    #expect(memory.error(for: question, at: Sample.at(1)) == nil)
  }

  @Test func `a policy without failure memory remembers nothing`() {
    var memory = FailureMemory(policy: CachePolicy(minimumFailureMemory: .zero), capacity: 10)
    memory.note(error, for: question, at: Sample.at(0))
    #expect(memory.error(for: question, at: Sample.at(0)) == nil)
  }

  @Test func `a flood of failing names does not make it grow, and the last one is remembered`() {
    var memory = FailureMemory(policy: CachePolicy(), capacity: 8)
    let questions = (0..<100).map { AddressQuestion(Sample.name("n\($0).example.net"), .ipv4) }
    for question in questions {
      memory.note(error, for: question, at: Sample.at(0))
      #expect(memory.error(for: question, at: Sample.at(0)) != nil)
    }
    #expect(questions.filter { memory.error(for: $0, at: Sample.at(0)) != nil }.count <= 8)
  }

  @Test func `what is over makes room before anything that is not`() {
    var memory = FailureMemory(policy: CachePolicy(), capacity: 2)
    let other = AddressQuestion(Sample.name("other.example.net"), .ipv4)
    let third = AddressQuestion(Sample.name("third.example.net"), .ipv4)
    memory.note(error, for: question, at: Sample.at(0))
    memory.note(error, for: other, at: Sample.at(1))
    memory.note(error, for: third, at: Sample.at(1.5))
    #expect(memory.error(for: other, at: Sample.at(1.5)) != nil)
    #expect(memory.error(for: third, at: Sample.at(1.5)) != nil)
  }
}
