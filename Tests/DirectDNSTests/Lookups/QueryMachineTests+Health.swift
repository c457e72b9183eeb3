// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Breakers: which servers are asked, and in which order.
extension QueryMachineTests {
  @Test func `three transport failures in a row move a provider behind the others for 30 s`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .down : Self.good }
    for number in 0..<3 { _ = await ask(upstreams, "n\(number).example") }
    #expect(transport.asked == ["one", "two", "one", "two", "one", "two"])
    for number in 3..<6 { _ = await ask(upstreams, "n\(number).example") }
    #expect(Array(transport.asked.dropFirst(6)) == ["two", "two", "two"])
    clock.advance(by: .seconds(30))
    _ = await ask(upstreams, "probe.example")
    #expect(Array(transport.asked.dropFirst(9)) == ["one", "two"])
    _ = await ask(upstreams, "after.example")
    #expect(Array(transport.asked.dropFirst(11)) == ["two"])
    clock.advance(by: .seconds(30))
    transport.reply { _ in Self.good }
    _ = await ask(upstreams, "back.example")
    _ = await ask(upstreams, "again.example")
    #expect(Array(transport.asked.dropFirst(12)) == ["one", "one"])
  }

  @Test func `a probe that another server outruns is the only one for 30 s`() async throws {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .down : Self.good }
    for round in 1...2 {
      // As many as two hedges need.
      for number in 0..<20 { _ = await ask(upstreams, "n\(number).of\(round).example") }
      transport.reply { $0.provider == "one" ? .silence : Self.good }
      clock.advance(by: .seconds(30))
      let probe = begin(upstreams, "probe\(round).example")
      await transport.waitForSent(Sample.name("probe\(round).example"))
      clock.advance(by: .milliseconds(150))
      #expect(provider(await probe.value) == 1)
      await transport.waitForCancelled(round)
      #expect(await clock.waitForNoSleepers())
      let next = begin(upstreams, "next\(round).example")
      await transport.waitForSent(Sample.name("next\(round).example"))
      try #require(transport.asked.suffix(3) == ["one", "two", "two"])
      #expect(provider(await next.value) == 1)
    }
  }

  @Test(arguments: [
    Script.code(.serverFailure), .code(.refused), .answer(.negative(.nameNotFound)), .error(.bodyTooLarge),
  ])
  func `an RCODE never opens a breaker, nor do more records than are read`(_ script: Script) async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? script : Self.good }
    for number in 0..<8 { _ = await ask(upstreams, "n\(number).example") }
    #expect(transport.asked.count { $0 == "one" } == 8)
  }

  @Test(arguments: [Script.down, .error(.tls("no")), .error(.timedOut), .status(500), .error(.fieldsTooLarge)])
  func `connecting, TLS, timeouts, 5xx and what is no DNS reply do`(_ script: Script) async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? script : Self.good }
    for number in 0..<8 { _ = await ask(upstreams, "n\(number).example") }
    #expect(transport.asked.count { $0 == "one" } == 3)
  }

  @Test func `429 never opens a breaker, and keeps the provider from being asked until Retry-After is over`()
    async
  {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .status(429, retryAfter: 7) : Self.good }
    _ = await ask(upstreams)
    #expect(transport.asked == ["one", "two"])
    for _ in 0..<5 { _ = await ask(upstreams) }
    #expect(transport.asked.count { $0 == "one" } == 1)
    clock.advance(by: .seconds(7) - .nanoseconds(1))
    _ = await ask(upstreams)
    #expect(transport.asked.count { $0 == "one" } == 1)
    clock.advance(by: .nanoseconds(1))
    _ = await ask(upstreams)
    #expect(transport.asked.count { $0 == "one" } == 2)
    // Four times 429, and it is still the first one.
    for _ in 0..<2 {
      clock.advance(by: .seconds(7))
      _ = await ask(upstreams)
    }
    clock.advance(by: .seconds(7))
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 0)
  }

  @Test func `a lookup waits for the only provider as long as it asks for, within its deadline`() async throws {
    let upstreams = upstreams("one")
    transport.reply { _ in .status(429, retryAfter: 2) }
    #expect(failed(await begin(upstreams, timeout: .seconds(1)).value)?.attempts.map(\.server) == ["one"])
    transport.reply { _ in Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(2))
    #expect(try await lookup.value.get().asked == Sample.at(2))
  }

  @Test func `when every breaker is open the one that opened first is asked all the same`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { _ in .down }
    for number in 0..<3 {
      _ = await ask(upstreams, "n\(number).example")
      clock.advance(by: .seconds(1))
    }
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 0)
  }

  @Test func `one lookup counts at most once per server, be it for two families`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { sent in
      if sent.provider == "one" { return .error(.connect("refused"), after: .seconds(1)) }
      return sent.question.family == .ipv6 ? .answer(.addresses("2001:db8::1")) : Self.good
    }
    for number in 0..<2 {
      let lookups = [IPAddress.Family.ipv6, .ipv4].map { begin(upstreams, "n\(number).example", $0) }
      await transport.waitForSent(4 * number + 2)
      clock.advance(by: .seconds(1))
      for lookup in lookups { #expect(provider(await lookup.value) == 1) }
    }
    #expect(transport.asked.count { $0 == "one" } == 4)
    // Two lookups have failed: the breaker is still closed.
    let third = begin(upstreams, "n3.example")
    await transport.waitForSent(9)
    #expect(transport.asked.last == "one")
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    _ = await third.value
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 1)
  }

  @Test func `different lookups that fail side by side count each`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .error(.connect("refused"), after: .seconds(1)) : Self.good }
    let lookups = (0..<3).map { begin(upstreams, "n\($0).example") }
    await clock.waitForSleepers(3)
    clock.advance(by: .seconds(1))
    for lookup in lookups { _ = await lookup.value }
    #expect(provider(await ask(upstreams)) == 1)
    #expect(transport.asked.last == "two")
  }

  @Test func `a change of network forgets health, and tells the transport`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .down : Self.good }
    for number in 0..<3 { _ = await ask(upstreams, "n\(number).example") }
    upstreams.networkDidChange()
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 0)
    #expect(transport.networkChanges == 1)
  }
}
