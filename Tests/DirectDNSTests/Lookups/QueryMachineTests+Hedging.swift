// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// A second server beside one that is slow.
extension QueryMachineTests {
  @Test
  func `a second provider is asked when the first takes more than 150 ms, and the first good reply wins`()
    async
  {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150) - .nanoseconds(1))
    upstreams.timePassed()
    #expect(transport.asked == ["one"])
    clock.advance(by: .nanoseconds(1))
    #expect(provider(await lookup.value) == 1)
    #expect(clock.now == Sample.at(0.15))
    #expect(transport.asked == ["one", "two"])
    // The loser was cancelled, and that says nothing about it.
    await transport.waitForCancelled(1)
    #expect(transport.cancelled.map(\.provider) == ["one"])
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `the first provider can still win, and then the second is cancelled`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply {
      .answer(.addresses("192.0.2.1"), after: $0.provider == "one" ? .milliseconds(200) : .seconds(1))
    }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(50))
    #expect(provider(await lookup.value) == 0)
    await transport.waitForCancelled(1)
    #expect(transport.cancelled.map(\.provider) == ["two"])
  }

  @Test(arguments: [Script.down, .code(.serverFailure), .status(500)])
  func `a hedge that fails does not end the race`(_ script: Script) async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply {
      $0.provider == "one" ? .answer(.addresses("192.0.2.1"), after: .milliseconds(400)) : script
    }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    clock.advance(by: .milliseconds(250))
    #expect(provider(await lookup.value) == 0)
  }

  @Test(arguments: ["two", "one"])
  func `of two that are asked the one that fails is replaced at once, while the other is silent`(
    _ failing: String
  ) async {
    let upstreams = upstreams("one", "two", "three", hedges: true)
    transport.reply { _ in Self.good }
    // Queries that leave room in the budget of hedges for one in place of a failed one.
    for number in 0..<11 { _ = await ask(upstreams, "n\(number).example") }
    transport.reply { query in
      switch query.provider {
      case "three": Self.good
      case failing: .error(.connect("refused"), after: .milliseconds(200))
      default: .silence
      }
    }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(13)
    await clock.waitForSleepers(3)
    clock.advance(by: .milliseconds(failing == "one" ? 50 : 200))
    #expect(provider(await lookup.value) == 2)
    #expect(transport.asked.suffix(3) == ["one", "two", "three"])
  }

  @Test func `a first provider that fails is replaced at once, without waiting for the delay`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .down : Self.good }
    #expect(provider(await ask(upstreams)) == 1)
    #expect(clock.now == Sample.at(0))
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `a provider is hedged at its own 95th percentile once that is known`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { _ in .answer(.addresses("192.0.2.1"), after: .milliseconds(20)) }
    for number in 0..<8 {
      let lookup = begin(upstreams, "n\(number).example")
      await transport.waitForSent(Sample.name("n\(number).example"))
      clock.advance(by: .milliseconds(20))
      #expect(provider(await lookup.value) == 0)
    }
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await transport.waitForSent(8 + 1)
    clock.advance(by: .milliseconds(20) - .nanoseconds(1))
    upstreams.timePassed()
    #expect(transport.count == 8 + 1)
    clock.advance(by: .nanoseconds(1))
    #expect(provider(await lookup.value) == 1)
  }

  @Test func `hedges are at most a tenth of the queries of a minute, or five`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .answer(.addresses("192.0.2.1"), after: .seconds(1)) : .silence }
    for number in 0..<20 {
      let lookup = begin(upstreams, "n\(number).example")
      await transport.waitForSent(Sample.name("n\(number).example"))
      clock.advance(by: .milliseconds(200))
      if number < 5 { await transport.waitForSent(2 * number + 2) }
      clock.advance(by: .milliseconds(800))
      #expect(provider(await lookup.value) == 0)
    }
    #expect(transport.asked.count { $0 == "two" } == 5)
  }

  @Test func `without hedging the second provider waits for the first one's failure`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3) - .nanoseconds(1))
    upstreams.timePassed()
    #expect(transport.count == 1)
    clock.advance(by: .nanoseconds(1))
    #expect(provider(await lookup.value) == 1)
    #expect(clock.now == Sample.at(3))
  }

  @Test func `a hedge goes to no provider whose bucket is empty`() async {
    let upstreams = upstreams("one", "two", "three", hedges: true, limits: ["two": RateLimit(perSecond: 0.1)])
    // The only token of the second one goes to a lookup that the first one fails.
    transport.reply { $0.provider == "one" ? .down : Self.good }
    #expect(provider(await ask(upstreams, "other.example")) == 1)
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    #expect(provider(await lookup.value) == 2)
  }

  @Test func `a server that waits for its own address does not hold up the winner`() async {
    var configuration = ResolverFixture.configuration(["one", "two"])
    configuration.providers[0].bootstrap = []
    let upstreams = QueryFixture(
      configuration, transport: transport, clock: clock, bootstrap: Bootstrap(system: system, clock: clock))
    system.answer { _ in .silence }
    transport.reply { _ in Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    #expect(provider(await lookup.value) == 1)
    #expect(clock.now == Sample.at(0.15))
    // What still waits for the system is let go, and not asked again: a task that never ends is a leak.
    system.answer { _ in .error(.connectionLost("no name server")) }
    clock.advance(by: .seconds(60))
  }
}
