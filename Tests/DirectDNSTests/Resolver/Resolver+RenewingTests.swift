import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Names that are asked for ahead of need.
@Suite(.timeLimit(.minutes(1)))
struct ResolverRenewingTests {
  private static let host = Laboratory.host

  private func knowing(age: Duration) async throws -> Laboratory {
    let laboratory = try Laboratory()
    try await laboratory.learn(ttl: 100)
    laboratory.clock.advance(by: age)
    return laboratory
  }

  private func begin(
    _ laboratory: Laboratory, _ host: HostName = host, isPatient: Bool = true
  ) -> Task<Result<Resolver.Renewal, DirectDNSError>, Never> {
    Task.immediate { [resolver = laboratory.resolver] in
      do throws(DirectDNSError) {
        return .success(try await resolver.renew(host, nil, isPatient: isPatient))
      } catch {
        return .failure(error)
      }
    }
  }

  @Test func `what is fresh costs no query`() async throws {
    let laboratory = try await knowing(age: .seconds(70))
    let renewal = try await begin(laboratory).value.get()
    #expect(!renewal.wasAsked && renewal.resolution.freshness == .fresh)
    #expect(laboratory.transport.count == 1)
  }

  @Test(arguments: [76.0, 110, 5000])
  func `what is due or has expired is asked for and waited for`(_ age: Double) async throws {
    let laboratory = try await knowing(age: .seconds(age))
    laboratory.transport.answer(Script.addresses("192.0.2.2", after: .seconds(2)))
    let task = begin(laboratory)
    await laboratory.clock.waitForSleepers()
    laboratory.clock.advance(by: .seconds(2))
    let renewal = try await task.value.get()
    #expect(renewal.wasAsked && renewal.resolution.freshness == .fresh)
    #expect(renewal.resolution.texts == ["192.0.2.2"])
    #expect(laboratory.transport.count == 2)
  }

  @Test func `where asking fails the expired answer serves`() async throws {
    let laboratory = try await knowing(age: .seconds(5000))
    laboratory.transport.reply { _ in .down }
    let renewal = try await begin(laboratory).value.get()
    #expect(renewal.wasAsked && renewal.resolution.expiredFor == .seconds(4900))
    #expect(laboratory.system.count == 0)
    // A refresh that failed is not tried again at once, by a renewal neither.
    _ = try await begin(laboratory).value.get()
    #expect(laboratory.transport.count == 2)
  }

  @Test func `an expired answer in the hand waits no longer than a lookup would, where nobody is expected to answer`()
    async throws
  {
    let laboratory = try await knowing(age: .seconds(5000))
    laboratory.transport.reply { _ in .silence }
    let task = begin(laboratory, isPatient: false)
    await laboratory.clock.waitForSleepers(2)
    laboratory.clock.advance(by: .milliseconds(300))
    #expect(try await task.value.get().resolution.freshness == .stale)
  }

  @Test func `without one it waits all the same`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer(Script.addresses("192.0.2.2", after: .seconds(2)))
    let task = begin(laboratory, isPatient: false)
    await laboratory.clock.waitForSleepers()
    laboratory.clock.advance(by: .seconds(2))
    #expect(try await task.value.get().resolution.texts == ["192.0.2.2"])
  }

  @Test func `both families are waited for`() async throws {
    let laboratory = try Laboratory { $0.families = .any }
    laboratory.transport.answer { question in
      question.family == .ipv4
        ? .answer(.addresses("192.0.2.1")) : .answer(.addresses("2001:db8::1"), after: .seconds(1))
    }
    let task = begin(laboratory)
    await laboratory.clock.waitForSleepers()
    laboratory.clock.advance(by: .seconds(1))
    #expect(try await task.value.get().resolution.addresses.count == 2)
  }

  @Test func `an answer of TTL 0 is an answer, and asked for once`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer(Script.addresses("192.0.2.1", ttl: 0))
    #expect(try await begin(laboratory).value.get().wasAsked)
    #expect(laboratory.transport.count == 1)
  }

  @Test(arguments: [Answer.Negative.nameNotFound, .noAddress])
  func `a negative answer is told, and costs no query while it is fresh`(_ negative: Answer.Negative) async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer { _ in .answer(.negative(negative)) }
    for _ in 0..<3 {
      guard case .failure(let error) = await begin(laboratory).value else {
        Issue.record("there was an answer")
        return
      }
      #expect(error.code == (negative == .nameNotFound ? .nameNotFound : .noAddress))
    }
    #expect(laboratory.transport.count == 1)
  }

  @Test func `a name without any answer fails as a lookup of it does, the system's DNS included`() async throws {
    let laboratory = try Laboratory()
    guard case .failure(let error) = await begin(laboratory).value else {
      Issue.record("there was an answer")
      return
    }
    #expect(error.code == .upstreamFailed)
    #expect(error.attempts.map(\.provider) == ["one", "system"])
    laboratory.system.answer(Script.addresses("192.0.2.9"))
    laboratory.clock.advance(by: .seconds(2))
    #expect(try await begin(laboratory).value.get().resolution.source == .system)
    #expect(laboratory.transport.count == 2)
  }

  @Test func `a name that nobody is asked about costs nothing`() async throws {
    let laboratory = try Laboratory()
    #expect(try await begin(laboratory, Sample.name("localhost")).value.get().wasAsked == false)
    guard case .failure(let error) = await begin(laboratory, Sample.name("a.onion")).value else {
      Issue.record("there was an answer")
      return
    }
    #expect(error.code == .refused)
  }

  @Test func `what is under way is joined, not asked for twice`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    let lookup = laboratory.begin()
    let task = begin(laboratory)
    await laboratory.clock.waitForSleepers()
    laboratory.clock.advance(by: .seconds(1))
    _ = try await lookup.value.get()
    #expect(try await task.value.get().wasAsked)
    #expect(laboratory.transport.count == 1)
  }

  @Test func `a renewal that is cancelled leaves alone`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.reply { _ in .silence }
    let task = begin(laboratory)
    await laboratory.clock.waitForSleepers()
    task.cancel()
    guard case .failure(let error) = await task.value else {
      Issue.record("there was an answer")
      return
    }
    #expect(error.code == .cancelled)
    #expect(laboratory.transport.cancelled.isEmpty)
  }
}
