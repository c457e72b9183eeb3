// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct RecordAskTests {
  private static let start = Sample.at(100)

  private static func states(_ names: [String], rate: RateLimit? = nil) throws -> ServerStates {
    ServerStates(
      ResolverConfiguration(
        providers: names.map {
          ProviderConfiguration(
            provider: JSONProvider(name: $0, url: Sample.url("https://\($0).example/")),
            bootstrap: Sample.addresses("192.0.2.53"), rateLimit: rate)
        }), at: start)
  }

  private static func ask(_ states: ServerStates) -> RecordAsk {
    RecordAsk(
      DNSName(Sample.name("a.example")), order: states.order(at: start),
      LookupDeadlines(timeout: .seconds(5), from: start, hasSystem: false))
  }

  private func told(_ step: RecordAsk.Step) -> String {
    switch step {
    case .ask(let server, let timeout): "\(server.name) \(timeout.wholeMilliseconds)"
    case .wait(let instant): "wait \((instant - Self.start).wholeMilliseconds)"
    case .failed(let failed):
      "failed\(failed.isTimeout ? " late" : "")" + failed.attempts.map { " \($0.provider): \($0.reason)" }.joined()
    }
  }

  @Test func `servers are asked in their order, each once, with less time while another is left`() throws {
    var states = try Self.states(["one", "two"])
    var ask = Self.ask(states)
    #expect(told(ask.next(among: &states, at: Self.start)) == "one 3000")
    #expect(told(ask.next(among: &states, at: Self.start + .seconds(3))) == "two 1900")
    #expect(told(ask.next(among: &states, at: Self.start + .seconds(4))) == "failed")
  }

  @Test func `none is asked when the time is over`() throws {
    var states = try Self.states(["one"])
    var ask = Self.ask(states)
    #expect(told(ask.next(among: &states, at: Self.start + .milliseconds(4900))) == "failed late")
  }

  @Test func `an empty bucket is waited for, and no longer than there is time`() throws {
    var states = try Self.states(["one"], rate: RateLimit(perSecond: 1, burst: 1))
    var first = Self.ask(states)
    #expect(told(first.next(among: &states, at: Self.start)) == "one 4900")
    var second = Self.ask(states)
    #expect(told(second.next(among: &states, at: Self.start)) == "wait 1000")
    #expect(told(second.next(among: &states, at: Self.start + .seconds(1))) == "one 3900")
    var others = (0..<4).map { _ in Self.ask(states) }
    for index in others.indices { _ = others[index].next(among: &states, at: Self.start + .seconds(1)) }
    var last = Self.ask(states)
    #expect(
      told(last.next(among: &states, at: Self.start + .seconds(1))) == "failed one: its request rate is used up")
  }

  @Test func `without a server there is nobody to ask`() throws {
    var states = try Self.states([])
    var ask = Self.ask(states)
    #expect(told(ask.next(among: &states, at: Self.start)) == "failed")
  }

  @Test(arguments: [
    (RecordAnswer(records: []), "noAddress"), (RecordAnswer(records: [], isNameMissing: true), "nameNotFound"),
    (
      RecordAnswer(records: [ResourceRecord(owner: .root, type: .mx, ttl: 1, data: .opaque([]))]), "answered"
    ),
  ])
  func `what is counted is what would be of addresses`(_ answer: RecordAnswer, _ label: String) {
    let reply = RecordReply(asked: Self.start, result: .success(answer), status: 200)
    guard case .one(let result) = reply.counted.reading else { return #expect(Bool(false)) }
    #expect(QueryLabel(result, status: .ok).text == label)
  }
}
