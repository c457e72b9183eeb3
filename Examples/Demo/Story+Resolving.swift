// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting

/// The first part: the life of one answer.
extension Story {
  func cold(_ dnsctl: Dnsctl) async throws {
    console.chapter("A cold lookup")
    console.say(
      "\(Stage.dohName) is a DNS-over-HTTPS server on this machine, with a certificate from an authority that was made a moment ago. It knows a few names. dnsctl starts with an empty cache, so it has to ask."
    )
    let run = try await dnsctl.run(["resolve"] + stage.dohOptions + [Stage.host])
    try console.expect(run.status, is: 0, "dnsctl's exit status")
    try console.expect(run.output, contains: Stage.address, "dnsctl's answer")
    try console.expect(run.output, contains: "fresh", "dnsctl's answer")
    let asked = stage.doh.requests.map { "\($0.type?.description ?? "?") over \($0.version)" }.sorted()
    console.say("\(Stage.dohName) was asked for both families, together: \(asked.joined(separator: ", ")).")
    try console.expect(asked, is: ["A over http2", "AAAA over http2"], "what the server was asked")
  }

  func cached(_ resolver: DirectResolver) async throws {
    console.chapter("A cached one")
    console.say("A process that stays, with the library in it, asks once and then remembers.")
    let before = stage.doh.requests.count
    let watch = ContinuousClock()
    let start = watch.now
    let answer = try await resolver.resolve(Stage.host)
    let coldTime = watch.now - start
    console.show("resolve(\"\(Stage.host)\")", answer, coldTime)
    try console.expect(answer.freshness, is: .fresh, "the answer's freshness")

    let host = try HostName(Stage.host)
    let rounds = 1000
    var hits = 0
    let cachedTime =
      watch.measure { for _ in 0..<rounds where resolver.cached(host) != nil { hits += 1 } } / rounds
    console.show("cached(\"\(Stage.host)\")", resolver.cached(host), cachedTime)
    console.say("That was the mean of \(rounds) calls in a debug build. The server heard of none of them.")
    try console.expect(hits, is: rounds, "how often the cache had the answer")
    try console.expect(stage.doh.requests.count - before, is: 2, "queries for all of this, A and AAAA")
    guard cachedTime < coldTime else {
      throw StoryError(
        "a cached lookup took \(cachedTime.text), the cold one \(coldTime.text); expected it to be faster")
    }
  }

  func expiring(_ resolver: DirectResolver, _ clock: ManualClock) async throws {
    console.chapter("The answer grows old, and nobody waits")
    console.say("The answer lives for \(Stage.ttl) s. From here on the clock is moved by hand. 50 s later:")
    clock.advance(by: .seconds(50))
    try console.show("cached(…)", resolver, expecting: .due)
    console.say(
      "Past three quarters of its life it is due: used at once, while a new one is fetched behind it.")
    try await refreshed(resolver)
    try console.show("cached(…)", resolver, expecting: .fresh)
    console.say("65 s later nobody has asked in time, and the answer has expired:")
    clock.advance(by: .seconds(65))
    try console.show("cached(…)", resolver, expecting: .grace)
    console.say("For a moment of grace it still serves at once, and again the new one is fetched behind it.")
    try await refreshed(resolver)
    try console.show("cached(…)", resolver, expecting: .fresh)
    let asked = stage.doh.requests.count { $0.type == .a }
    try console.expect(
      asked, is: 4, "queries for the IPv4 address so far: dnsctl's, the cold one, two refreshes")
  }

  func dead(_ resolver: DirectResolver, _ clock: ManualClock, _ dnsctl: Dnsctl) async throws {
    console.chapter("The server dies")
    await stage.doh.stop()
    console.say(
      "\(Stage.dohName) is gone: connections to it are refused. A new process knows nothing and can only say so:"
    )
    let run = try await dnsctl.run(["resolve"] + stage.dohOptions + [Stage.host])
    try console.expect(run.status, is: 2, "dnsctl's exit status without any server")
    try console.expect(run.output, contains: Stage.dohName, "dnsctl's error, which names the provider")

    console.say(
      "The process that stays has an answer. Ten minutes later it has expired, and it still serves:")
    clock.advance(by: .seconds(600))
    let answer = try await resolver.resolve(Stage.host)
    console.show("resolve(\"\(Stage.host)\")", answer)
    try console.expect(answer.freshness, is: .stale, "the answer's freshness")
    try console.expect(answer.addresses.map(\.description), is: [Stage.address], "the answer's addresses")
    try console.expect(answer.expiredFor, is: .seconds(540), "how long ago it expired")
    console.say(
      "It says of itself that it is stale, and how old it is. Whoever would rather have nothing asks so:")
    do {
      let unwanted = try await resolver.resolve(Stage.host, options: LookupOptions(expired: .refused))
      throw StoryError("a lookup that refuses expired answers got \(unwanted); expected an error")
    } catch let error as DirectDNSError {
      console.show("resolve(…, expired: .refused)", error)
      try console.expect(error.code, is: .upstreamFailed, "the error's code")
    }
  }

  func takenOver(_ dnsctl: Dnsctl) async throws {
    console.chapter("A second provider takes over")
    console.say(
      "\(Stage.jsonName) speaks another language, AliDNS's JSON. With --trace, dnsctl tells on standard error what it does:"
    )
    let run = try await dnsctl.run(
      ["resolve", "--trace"] + stage.dohOptions + stage.jsonOptions + [Stage.host])
    try console.expect(run.status, is: 0, "dnsctl's exit status with a second provider")
    try console.expect(run.output, contains: Stage.address, "dnsctl's answer")
    try console.expect(run.output, contains: "fresh  \(Stage.jsonName)", "dnsctl's answer's source")
    try console.expect(
      stage.json.requests.map(\.path), is: ["/resolve", "/resolve"], "what the second provider was asked")
    console.say("The first one could not be reached, so the second one was asked, within the same lookup.")
  }

  func returning(_ resolver: DirectResolver, _ clock: ManualClock, _ dnsctl: Dnsctl)
    async throws -> FakeProvider
  {
    console.chapter("The server returns")
    console.say(
      "\(Stage.dohName) is back on its port, and meanwhile the name has moved to \(Stage.laterAddress).")
    let server = try await stage.bringBack()
    let run = try await dnsctl.run(["resolve"] + stage.dohOptions + stage.jsonOptions + [Stage.host])
    try console.expect(run.status, is: 0, "dnsctl's exit status")
    try console.expect(run.output, contains: Stage.laterAddress, "dnsctl's answer")
    try console.expect(
      run.output, contains: "fresh  \(Stage.dohName)", "dnsctl's answer's source, the first provider again")
    console.say("The process that stays gave the dead server half a minute of peace. Then it asks again:")
    clock.advance(by: .seconds(31))
    let answer = try await resolver.resolve(Stage.host)
    console.show("resolve(\"\(Stage.host)\")", answer)
    try console.expect(answer.freshness, is: .fresh, "the answer's freshness")
    try console.expect(
      answer.addresses.map(\.description), is: [Stage.laterAddress], "the answer's addresses")
    return server
  }

  /// Waits for a refresh that goes on behind an answer.
  private func refreshed(_ resolver: DirectResolver) async throws {
    let deadline = ContinuousClock.now + .seconds(5)
    while !resolver.snapshot().contains(where: { $0.family == .ipv4 && $0.age == .zero }) {
      guard ContinuousClock.now < deadline else {
        throw StoryError("no fresh answer came within 5 s; the cache has \(resolver.snapshot())")
      }
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}
