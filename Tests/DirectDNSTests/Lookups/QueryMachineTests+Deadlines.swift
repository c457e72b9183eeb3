// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// How long servers are waited for.
extension QueryMachineTests {
  @Test func `each query has 3 s and the providers together 3.5 s`() async {
    let upstreams = upstreams("one", "two", "three")
    transport.reply { _ in .silence }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    await transport.waitForSent(2)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(500))
    let failed = failed(await lookup.value)
    #expect(failed?.cause == .timedOut)
    #expect(failed?.attempts.map(\.server) == ["one", "two"])
    #expect(transport.sent.map(\.at) == [Sample.at(0), Sample.at(3)])
    #expect(transport.sent.map(\.timeout) == [.milliseconds(3500), .milliseconds(500)])
    await transport.waitForCancelled(1)
    #expect(transport.cancelled.map(\.provider) == ["one"])
    #expect(await clock.waitForNoSleepers())
  }

  @Test(arguments: [(true, 3.4), (false, 4.5), (false, 4.89)])
  func `the only provider is waited for until the providers' time is over`(_ hasSystem: Bool, _ seconds: Double) async {
    let upstreams = upstreams("one")
    transport.reply { _ in .answer(.addresses("192.0.2.1"), after: .milliseconds(Int64(seconds * 1000))) }
    let lookup = begin(upstreams, hasSystem: hasSystem)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(Int64(seconds * 1000)))
    #expect(provider(await lookup.value) == 0)
  }

  @Test(arguments: [(true, 3500), (false, 4900)])
  func `and no longer`(_ hasSystem: Bool, _ milliseconds: Int) async {
    let upstreams = upstreams("one")
    transport.reply { _ in .silence }
    let lookup = begin(upstreams, hasSystem: hasSystem)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(milliseconds))
    #expect(failed(await lookup.value)?.cause == .timedOut)
  }

  @Test(arguments: [Script.down, .code(.serverFailure), .status(429, retryAfter: 60)])
  func `a slow provider is waited for when the others have failed`(_ others: Script) async {
    let upstreams = upstreams("one", "two", "three")
    transport.reply {
      $0.provider == "three" ? .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) : others
    }
    let lookup = begin(upstreams, hasSystem: false)
    await transport.waitForSent(3)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(4500))
    #expect(provider(await lookup.value) == 2)
  }

  @Test func `a slow provider goes on when its hedge was the last one, and has failed`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) : .down }
    let lookup = begin(upstreams, hasSystem: false)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    clock.advance(by: .milliseconds(4350))
    #expect(provider(await lookup.value) == 0)
  }

  @Test func `a slow hedge goes on too`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .silence : .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) }
    let lookup = begin(upstreams, hasSystem: false)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(4500))
    #expect(provider(await lookup.value) == 1)
  }

  @Test func `a slow provider is not given up for one whose breaker is open, which is asked beside it`() async {
    for (place, winner) in ["one", "two"].enumerated() {
      let upstreams = upstreams("one", "two")
      transport.reply { $0.provider == "two" ? .down : .code(.serverFailure) }
      for number in 0..<3 { _ = await ask(upstreams, "n\(number).example") }
      let before = transport.count
      transport.reply {
        guard $0.provider == winner else { return .silence }
        return .answer(.addresses("192.0.2.1"), after: winner == "one" ? .milliseconds(4500) : .milliseconds(1500))
      }
      let lookup = begin(upstreams, hasSystem: false)
      await transport.waitForSent(before + 1)
      clock.advance(by: .seconds(3))
      await transport.waitForSent(before + 2)
      await clock.waitForSleepers(2)
      // The loser of the round before, and nobody else.
      #expect(transport.cancelled.count == place)
      clock.advance(by: .milliseconds(1500))
      #expect(provider(await lookup.value) == place)
      await transport.waitForCancelled(place + 1)
      #expect(await clock.waitForNoSleepers())
    }
  }

  @Test func `a slow provider is not given up for one whose rate is used up`() async {
    let upstreams = upstreams("one", "two", limits: ["two": RateLimit(perSecond: 0.1)])
    transport.reply { $0.provider == "two" ? .code(.serverFailure) : .down }
    _ = await ask(upstreams, "other.example")
    transport.reply { _ in .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) }
    let lookup = begin(upstreams, hasSystem: false)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    clock.advance(by: .milliseconds(1500))
    #expect(provider(await lookup.value) == 0)
  }

  @Test func `a query that was given up counts as one that timed out`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    for number in 0..<3 {
      let lookup = begin(upstreams, "n\(number).example")
      await transport.waitForSent(Sample.name("n\(number).example"))
      clock.advance(by: .seconds(3))
      #expect(provider(await lookup.value) == 1)
    }
    #expect(upstreams.tallies.map(\.failed) == [3, 0])
    #expect(upstreams.status.map(\.isBreakerOpen) == [true, false])
  }

  @Test func `a caller's own deadline scales them`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { _ in .silence }
    let lookup = begin(upstreams, timeout: .seconds(1))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(600))
    await transport.waitForSent(2)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(100))
    #expect(failed(await lookup.value)?.cause == .timedOut)
    #expect(transport.sent.map(\.timeout) == [.milliseconds(700), .milliseconds(100)])
  }

  @Test func `a lookup that failed otherwise is no timeout`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .down : .error(.timedOut) }
    #expect(failed(await ask(upstreams))?.cause == .failedLate)
    transport.reply { _ in .error(.timedOut) }
    #expect(failed(await ask(upstreams, "other.example"))?.cause == .timedOut)
  }

  @Test func `a lookup that begins too late asks nobody`() async {
    let upstreams = upstreams("one")
    let failed = failed(await begin(upstreams, at: clock.now - .seconds(4)).value)
    #expect(failed?.cause == .timedOut)
    #expect(transport.count == 0)
  }

  @Test func `the time that a server's own address took is the query's`() async {
    let upstreams = upstreams("one", hasBootstrap: false)
    system.answer(Script.addresses("192.0.2.53", after: .seconds(1)))
    transport.reply { _ in .silence }
    let lookup = begin(upstreams)
    for asked in 1...2 {
      await system.waitForAsked(asked)
      clock.advance(by: .seconds(1))
    }
    await transport.waitForSent(1)
    #expect(transport.sent.map(\.addresses) == [Sample.addresses("192.0.2.53")])
    #expect(transport.sent.map(\.timeout) == [.milliseconds(1500)])
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(1500))
    #expect(failed(await lookup.value)?.cause == .timedOut)
  }

  @Test
  func `a server whose own address cannot be found is a failure with the reason, and the next is asked`()
    async
  {
    let upstreams = upstreams("one", hasBootstrap: false)
    let failed = failed(await ask(upstreams))
    #expect(failed?.attempts.first?.reason.contains("one.example") == true)
    #expect(transport.count == 0)
  }

  @Test(arguments: [(HTTPTransportError.timedOut, 4), (.connect("refused"), 4), (.tls("expired"), 2)])
  func `a server whose address nobody answers at is looked up again, once`(
    _ error: HTTPTransportError, _ count: Int
  ) async {
    let upstreams = upstreams("one", hasBootstrap: false)
    system.answer { $0.family == .ipv4 ? .answer(.addresses("192.0.2.53")) : .answer(.negative(.noAddress)) }
    transport.reply { _ in .error(error) }
    _ = await ask(upstreams)
    #expect(system.count == 2)
    for _ in 0..<3 {
      _ = await ask(upstreams)
      #expect(system.count == count)
    }
  }
}
