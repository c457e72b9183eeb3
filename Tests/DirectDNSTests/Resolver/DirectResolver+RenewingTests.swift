// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Names that are asked for ahead of need.
@Suite(.timeLimit(.minutes(1)))
struct ResolverRenewingTests {
  private static let host = ResolverFixture.host

  private func knowing(age: Duration) async throws -> ResolverFixture {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: age)
    return fixture
  }

  private func begin(
    _ fixture: ResolverFixture, _ host: HostName = host, isPatient: Bool = true
  ) -> Task<Result<DirectResolver.Renewal, DirectDNSError>, Never> {
    Task.immediate { [resolver = fixture.resolver] in
      do throws(DirectDNSError) {
        return .success(try await resolver.renew(host, nil, isPatient: isPatient))
      } catch {
        return .failure(error)
      }
    }
  }

  @Test func `what is fresh costs no query`() async throws {
    let fixture = try await knowing(age: .seconds(70))
    let renewal = try await begin(fixture).value.get()
    #expect(!renewal.wasAsked && renewal.resolution.freshness == .fresh)
    #expect(fixture.transport.count == 1)
  }

  @Test(arguments: [76.0, 110, 5000])
  func `what is due or has expired is asked for and waited for`(_ age: Double) async throws {
    let fixture = try await knowing(age: .seconds(age))
    fixture.transport.answer(Script.addresses("192.0.2.2", after: .seconds(2)))
    let task = begin(fixture)
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(2))
    let renewal = try await task.value.get()
    #expect(renewal.wasAsked && renewal.resolution.freshness == .fresh)
    #expect(renewal.resolution.texts == ["192.0.2.2"])
    #expect(fixture.transport.count == 2)
  }

  @Test func `where asking fails the expired answer serves`() async throws {
    let fixture = try await knowing(age: .seconds(5000))
    fixture.transport.reply { _ in .down }
    let renewal = try await begin(fixture).value.get()
    #expect(renewal.wasAsked && renewal.resolution.expiredFor == .seconds(4900))
    #expect(fixture.system.count == 0)
    // A refresh that failed is not tried again at once, by a renewal neither.
    _ = try await begin(fixture).value.get()
    #expect(fixture.transport.count == 2)
  }

  @Test func `an expired answer in the hand waits no longer than a lookup would, where nobody is expected to answer`()
    async throws
  {
    let fixture = try await knowing(age: .seconds(5000))
    fixture.transport.reply { _ in .silence }
    let task = begin(fixture, isPatient: false)
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(300))
    #expect(try await task.value.get().resolution.freshness == .stale)
  }

  @Test func `without one it waits all the same`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.2", after: .seconds(2)))
    let task = begin(fixture, isPatient: false)
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(2))
    #expect(try await task.value.get().resolution.texts == ["192.0.2.2"])
  }

  @Test func `both families are waited for`() async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    fixture.transport.answer { question in
      question.family == .ipv4
        ? .answer(.addresses("192.0.2.1")) : .answer(.addresses("2001:db8::1"), after: .seconds(1))
    }
    let task = begin(fixture)
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(1))
    #expect(try await task.value.get().resolution.addresses.count == 2)
  }

  @Test func `an answer of TTL 0 is an answer, and asked for once`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", ttl: 0))
    #expect(try await begin(fixture).value.get().wasAsked)
    #expect(fixture.transport.count == 1)
  }

  @Test(arguments: [Answer.Negative.nameNotFound, .noAddress])
  func `a negative answer is told, and costs no query while it is fresh`(_ negative: Answer.Negative) async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(negative)) }
    for _ in 0..<3 {
      guard case .failure(let error) = await begin(fixture).value else {
        Issue.record("there was an answer")
        return
      }
      #expect(error.code == (negative == .nameNotFound ? .nameNotFound : .noAddress))
    }
    #expect(fixture.transport.count == 1)
  }

  @Test func `a name without any answer fails as a lookup of it does, the system's DNS included`() async throws {
    let fixture = try ResolverFixture()
    guard case .failure(let error) = await begin(fixture).value else {
      Issue.record("there was an answer")
      return
    }
    #expect(error.code == .upstreamFailed)
    #expect(error.attempts.map(\.server) == ["one", "system"])
    fixture.system.answer(Script.addresses("192.0.2.9"))
    fixture.clock.advance(by: .seconds(2))
    #expect(try await begin(fixture).value.get().resolution.source == .system)
    #expect(fixture.transport.count == 2)
  }

  @Test func `a name that nobody is asked about costs nothing`() async throws {
    let fixture = try ResolverFixture()
    #expect(try await begin(fixture, Sample.name("localhost")).value.get().wasAsked == false)
    guard case .failure(let error) = await begin(fixture, Sample.name("a.onion")).value else {
      Issue.record("there was an answer")
      return
    }
    #expect(error.code == .refused)
  }

  @Test func `what is under way is joined, not asked for twice`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    let lookup = fixture.begin()
    let task = begin(fixture)
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(1))
    _ = try await lookup.value.get()
    #expect(try await task.value.get().wasAsked)
    #expect(fixture.transport.count == 1)
  }

  @Test func `a renewal that is cancelled leaves alone`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .silence }
    let task = begin(fixture)
    await fixture.clock.waitForSleepers()
    task.cancel()
    guard case .failure(let error) = await task.value else {
      Issue.record("there was an answer")
      return
    }
    #expect(error.code == .cancelled)
    #expect(fixture.transport.cancelled.isEmpty)
  }
}
