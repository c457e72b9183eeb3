// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS
@testable import DirectDNSTesting

/// A resolver with everything around it in the test's hands: clock, providers, the system's DNS.
final class ResolverFixture: Sendable {
  let clock: ManualClock
  let transport: ScriptedTransport
  let system: ScriptedSystem
  let resolver: DirectResolver
  private let log = Watched<[ResolverEvent]>([])

  /// Makes a resolver that asks for IPv4 alone, unless `configure` says otherwise.
  ///
  /// - Parameters:
  ///   - providers: their names, in the order of asking.
  ///   - clock: its time, which several may share.
  ///   - configure: changes the configuration.
  /// - Throws: what the resolver has against the configuration.
  init(
    _ providers: String..., clock: ManualClock = ManualClock(),
    configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) throws {
    self.clock = clock
    transport = ScriptedTransport(clock: clock)
    system = ScriptedSystem(clock: clock)
    var configuration = Self.configuration(providers.isEmpty ? ["one"] : providers)
    configuration.families = .ipv4
    configuration.observer = { [log] event in log.change { $0.append(event) } }
    configure(&configuration)
    resolver = try DirectResolver(configuration, transport: transport, clock: clock, system: system)
  }

  deinit { resolver.shutdown() }

  static func configuration(_ providers: [String]) -> ResolverConfiguration {
    ResolverConfiguration(
      providers: providers.map {
        ProviderConfiguration(provider: ScriptedProvider($0), bootstrap: Sample.addresses("192.0.2.53"))
      })
  }

  static let host = Sample.name("www.example.net")

  var events: [ResolverEvent] { log.value }

  /// Waits until the observer was told so much: what is done behind a call may be told of after its end.
  func waitForEvents(_ condition: @escaping @Sendable ([ResolverEvent]) -> Bool) async {
    await log.wait(until: condition)
  }

  var queries: [ResolverEvent.Query<AddressQuestion>] {
    events.compactMap { if case .query(let query) = $0 { query } else { nil } }
  }
  var refreshes: Int { events.count { if case .refresh = $0 { true } else { false } } }

  /// Waits until nothing is asked about a name any more, and what came is in the cache.
  func settle(_ host: HostName = ResolverFixture.host) async {
    await resolver.lookups.drain(host, servers: [.providers, .system])
  }

  /// Moves time on, has the resolver do what is due by then, and waits until nothing is asked any more.
  func pass(_ duration: Duration) async {
    clock.advance(by: duration)
    resolver.lookups.send { $0.timePassed(at: $1) }
    await resolver.lookups.drain(servers: [.providers, .system])
  }

  /// Puts an answer into the cache by looking it up.
  @discardableResult
  func learn(
    _ addresses: String..., ttl: UInt32 = 100, host: HostName = ResolverFixture.host
  ) async throws -> Resolution {
    let known = addresses.isEmpty ? ["192.0.2.1"] : addresses
    transport.answer({ question in
      let own = known.map(Sample.address).filter { $0.family == question.family }
      return .answer(own.isEmpty ? .negative(.noAddress) : Answer(.addresses(own), ttl: ttl))
    })
    return try await resolver.resolve(host)
  }

  /// Begins a lookup; it has gone as far as it can without waiting when this returns.
  func begin(
    _ host: HostName = ResolverFixture.host, options: LookupOptions = LookupOptions()
  ) -> Lookup {
    let task = Task.immediate { [resolver] () -> Result<Resolution, DirectDNSError> in
      do throws(DirectDNSError) { return .success(try await resolver.resolve(host, options: options)) } catch {
        return .failure(error)
      }
    }
    return Lookup(task: task)
  }

  /// Looks a name up and says what came of it.
  func outcome(
    _ host: HostName = ResolverFixture.host, options: LookupOptions = LookupOptions()
  ) async -> Result<Resolution, DirectDNSError> {
    await begin(host, options: options).value
  }

  /// The error of a lookup that must fail.
  func failure(
    _ host: HostName = ResolverFixture.host, options: LookupOptions = LookupOptions()
  ) async -> DirectDNSError? {
    if case .failure(let error) = await outcome(host, options: options) { error } else { nil }
  }
}

/// A lookup under way.
struct Lookup: Sendable {
  fileprivate let task: Task<Result<Resolution, DirectDNSError>, Never>

  /// What came of it; a test that runs out of time takes the lookup along.
  var value: Result<Resolution, DirectDNSError> {
    get async {
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  func cancel() { task.cancel() }
}

extension Resolution {
  /// The addresses as text, for comparisons that a reader can read.
  var texts: [String] { addresses.map(\.description) }
}

extension Result where Success == Resolution, Failure == DirectDNSError {
  var resolution: Resolution? { if case .success(let resolution) = self { resolution } else { nil } }
  var error: DirectDNSError? { if case .failure(let error) = self { error } else { nil } }
}
