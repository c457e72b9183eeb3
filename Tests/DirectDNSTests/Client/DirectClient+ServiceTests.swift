// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS

/// How a client ends.
@Suite(.timeLimit(.minutes(1)))
struct DirectClientServiceTests {
  @Test func `a service group ends the client after those who use it`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let url = origin.url("/", host: "shop.test")
    let group = ServiceGroup(
      services: [client, Sender(client: client, url: url)],
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let running = Task { try await group.run() }
    await origin.waitForRequests(1)
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(origin.requests.count == 2)
    let error = await #expect(throws: DirectDNSError.self) { try await client.execute(ClientSample.get(url)) }
    #expect(error?.code == .shutDown)
    await origin.stop()
  }

  /// Sends a request now and one when it is told to end.
  private struct Sender: Service {
    let client: DirectClient
    let url: String

    func run() async throws {
      _ = try await client.execute(ClientSample.get(url)).body.text()
      try await gracefulShutdown()
      _ = try await client.execute(ClientSample.get(url)).body.text()
    }
  }

  @Test func `those under way finish, and then nothing is left`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse(body: "done")
    }
    let client = try ClientSample.client()
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let running = Task { try await client.execute(request).body.text() }
    await gate.waitForArrivals(1)
    let ending = Task.immediate { await client.shutdown() }
    gate.open()
    #expect(try await running.value == "done")
    await ending.value
    await origin.waitForOpenConnections(0)
    await origin.stop()
  }

  @Test func `a service whose task is cancelled ends at once, and what is under way with it`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse()
    }
    let client = try ClientSample.client()
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let running = Task { try await client.execute(request) }
    await gate.waitForArrivals(1)
    let service = Task { try await client.run() }
    service.cancel()
    try await service.value
    let error = await #expect(throws: DirectDNSError.self) { try await running.value }
    #expect(error?.code == .shutDown)
    gate.open()
    await origin.stop()
  }

  @Test func `those who take too long are ended`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse()
    }
    let client = try ClientSample.client { $0.connections = 1 }
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let tasks = (0..<3).map { _ in Task { try await client.execute(request) } }
    await gate.waitForArrivals(1)
    await client.shutdown(within: .milliseconds(10))
    for task in tasks {
      let error = await #expect(throws: DirectDNSError.self) { try await task.value }
      #expect(error?.code == .shutDown)
    }
    await origin.stop()
  }
}
