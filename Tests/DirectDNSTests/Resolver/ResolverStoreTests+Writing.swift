// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What is written behind, and stores that do not help.
extension ResolverStoreTests {
  // MARK: Writing behind

  @Test func `what a provider said is written behind`() async throws {
    let fixture = try member()
    store.hang(.writing)
    try await fixture.learn("192.0.2.1", ttl: 100)
    store.hang()
    #expect(await fixture.resolver.flushStore().unwritten == 0)
    let answer = try #require(remembered)
    #expect(answer.content == .addresses([Sample.address("192.0.2.1")]))
    #expect(answer.provider == "one")
    #expect(answer.expires == clock.wallNow + .seconds(100))
  }

  @Test func `an answer that is not to be kept takes the stored one away`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(5000))
    #expect(remembered?.content == .addresses(Sample.addresses("192.0.2.7")))
    let fixture = try member()
    try await fixture.learn("192.0.2.8", ttl: 0)
    await fixture.resolver.flushStore()
    #expect(remembered == nil)
  }

  @Test func `a name that is forgotten is forgotten in the store`() async throws {
    remember("192.0.2.7")
    let fixture = try member()
    _ = try await fixture.resolver.resolve(Self.host)
    fixture.resolver.invalidate(Self.host)
    #expect(try await fixture.learn("192.0.2.8").texts == ["192.0.2.8"])
    await fixture.resolver.flushStore()
    #expect(remembered?.content == .addresses([Sample.address("192.0.2.8")]))
  }

  @Test func `what the system's DNS said is not stored`() async throws {
    let fixture = try member()
    fixture.transport.answer { _ in .down }
    fixture.system.answer(Script.addresses("192.0.2.9"))
    #expect(try await fixture.resolver.resolve(Self.host).source == .system)
    await fixture.resolver.flushStore()
    #expect(remembered == nil)
  }

  @Test func `addresses of another family are no part of an answer, whoever brings them`() async throws {
    let wrong = Sample.addresses("2001:db8::7")
    let fixture = try member()
    // A store's row.
    let asked = clock.wallNow
    store.memory.write([
      StoredAnswer(
        Self.question, .addresses(wrong), provider: "other", asked: asked, expires: asked + .seconds(100),
        gone: asked + .seconds(200))
    ])
    #expect(try await fixture.learn("192.0.2.1").texts == ["192.0.2.1"])
    // The system's DNS, as a caller may bring it.
    fixture.system.answer { _ in .answer(Answer(.addresses(wrong + Sample.addresses("192.0.2.9")), ttl: 60)) }
    #expect(try await fixture.resolver.resolve(Sample.name("printer.local")).texts == ["192.0.2.9"])
    fixture.system.answer { _ in .answer(Answer(.addresses(wrong), ttl: 60)) }
    await #expect(throws: DirectDNSError.self) {
      _ = try await fixture.resolver.resolve(Sample.name("scanner.local"))
    }
    // A provider, whose format may be a caller's own.
    fixture.transport.answer { _ in .answer(Answer(.addresses(wrong + Sample.addresses("192.0.2.8")), ttl: 60)) }
    #expect(try await fixture.resolver.resolve(Sample.name("both.example.net")).texts == ["192.0.2.8"])
    for (name, unfit) in [("other.example.net", wrong), ("none.example.net", [])] as [(String, [IPAddress])] {
      fixture.transport.answer { _ in .answer(Answer(.addresses(unfit), ttl: 60)) }
      await #expect(throws: DirectDNSError.self) { _ = try await fixture.resolver.resolve(Sample.name(name)) }
    }
  }

  @Test func `names that are the system's alone neither come from the store nor go there`() async throws {
    let host = Sample.name("printer.local")
    remember("192.0.2.7", host: host)
    let fixture = try member()
    fixture.system.answer(Script.addresses("192.0.2.9"))
    #expect(try await fixture.resolver.resolve(host).texts == ["192.0.2.9"])
    #expect(store.calls.isEmpty)
  }

  // MARK: A store that does not help

  @Test func `a store that fails costs nothing, and is told of once`() async throws {
    store.fail()
    let fixture = try member()
    #expect(try await fixture.learn("192.0.2.1").texts == ["192.0.2.1"])
    #expect(try await fixture.learn("192.0.2.1", host: Sample.name("two.example.net")).texts == ["192.0.2.1"])
    #expect(store.reads == 1)
    _ = await fixture.resolver.flushStore()
    @Sendable func told(_ events: [ResolverEvent]) -> Int {
      events.count { if case .store("scripted", .failed) = $0 { true } else { false } }
    }
    // Once for reading, once for writing; a flush does not wait until that was told.
    await fixture.waitForEvents { told($0) >= 2 }
    #expect(told(fixture.events) == 2)
  }

  @Test func `a store that hangs costs three lookups 50 ms each, and then nothing`() async throws {
    store.hang(.reading, .writing, .leasing)
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    for number in 0..<3 {
      let begun = clock.now
      let lookup = fixture.begin(Sample.name("host-\(number).example.net"))
      await store.wait(forReads: number + 1)
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(50))
      #expect(await lookup.value.resolution?.source == .provider("one"))
      #expect(clock.now - begun == .milliseconds(50))
      // The lookup has a limit of its own: the read may be given up a moment later.
      #expect(await ProcessState.eventually { fixture.resolver.store?.isReading == false })
    }
    let begun = clock.now
    #expect(try await fixture.learn().source == .provider("one"))
    #expect(clock.now == begun)
    store.hang()
  }

  @Test func `ending waits for the store two seconds at most, and says what was not written`() async throws {
    store.hang(.writing)
    let fixture = try member()
    try await fixture.learn()
    let ending = Task.immediate { await fixture.resolver.shutdown(flushingWithin: DirectResolver.flushLimit) }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(2))
    let flush = await ending.value
    #expect(flush.unwritten == 1)
    #expect(await fixture.failure(Sample.name("two.example.net"))?.code == .shutDown)
    store.hang()
  }

  @Test func `without a store there is nothing to wait for`() async throws {
    let fixture = try ResolverFixture()
    #expect(await fixture.resolver.shutdown(flushingWithin: .seconds(2)).unwritten == 0)
  }

  @Test func `a process that ends can give the refresh behind an answer a moment`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(80))
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.8", after: .milliseconds(200)))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.7"])
    await fixture.transport.waitForSent(1)
    let ending = Task.immediate {
      await fixture.resolver.finishQueries(within: .milliseconds(300))
      return await fixture.resolver.shutdown(flushingWithin: DirectResolver.flushLimit)
    }
    clock.advance(by: .milliseconds(200))
    #expect(await ending.value.unwritten == 0)
    #expect(remembered?.content == .addresses([Sample.address("192.0.2.8")]))
  }

  @Test func `who waits for the refresh leaves when told to`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(80))
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.8", after: .milliseconds(200)))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.7"])
    await fixture.transport.waitForSent(1)
    let ending = Task.immediate { await fixture.resolver.finishQueries(within: .seconds(9)) }
    ending.cancel()
    await ending.value
    #expect(fixture.clock.now == clock.now)
  }

  @Test func `and no longer than that`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(80))
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.8", after: .milliseconds(400)))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.7"])
    await fixture.transport.waitForSent(1)
    let ending = Task.immediate { await fixture.resolver.finishQueries(within: .milliseconds(300)) }
    clock.advance(by: .milliseconds(300))
    await ending.value
    #expect(await fixture.resolver.shutdown(flushingWithin: DirectResolver.flushLimit).unwritten == 0)
    #expect(remembered?.content == .addresses([Sample.address("192.0.2.7")]))
  }
}
