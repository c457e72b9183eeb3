// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct ResolverServiceTests {
  @Test func `a service group ends the resolver, and its store has what was learned`() async throws {
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("www.shop.test", "192.0.2.1", ttl: 300) })
    let store = MemoryAnswerStore()
    var configuration = ResolverConfiguration(providers: [
      ProviderConfiguration(provider: JSONProvider(name: "fake", url: try WebURL(provider.url("/resolve"))))
    ])
    configuration.usesSystemDNS = false
    configuration.store = store
    let resolver = try DirectResolver(configuration)
    let group = ServiceGroup(
      services: [resolver], logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let running = Task { try await group.run() }
    _ = try await resolver.resolve("www.shop.test")
    await group.triggerGracefulShutdown()
    try await running.value
    let question = AddressQuestion(try HostName("www.shop.test"), .ipv4)
    #expect(store.read([question]).count == 1)
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.resolve("other.shop.test") }
    #expect(error?.code == .shutDown)
    await provider.stop()
  }
}
