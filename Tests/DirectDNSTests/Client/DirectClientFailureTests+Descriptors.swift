// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// A process that may open no more files.
extension DirectClientFailureTests {
  @Test func `a process without a descriptor to spare says so, and holds it against no address`() async {
    // In a process of its own, whose limit is its own.
    await #expect(processExitsWith: .success) { await OwnProcess.run { try await Self.lacksDescriptors() } }
  }

  private static func lacksDescriptors() async throws {
    let origins = [
      try await FakeOrigin.start { _ in OriginResponse(body: "one") },
      try await FakeOrigin.start { _ in OriginResponse(body: "two") },
    ]
    let client = try ClientSample.client()
    func get(_ origin: FakeOrigin) async throws -> String {
      try await client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
    }
    #expect(try await get(origins[0]) == "one")
    let heard = client.resolver.ranking.revision(high: 0, low: 0x7F00_0001)
    let error = await OpenFiles.withNone {
      await #expect(throws: DirectDNSError.self) { _ = try await get(origins[1]) }
    }
    #expect(error?.code == .connectFailed)
    #expect(error?.message.hasSuffix("this process may open no further files (ulimit -n).") == true)
    #expect(client.resolver.ranking.revision(high: 0, low: 0x7F00_0001) == heard)
    #expect(try await get(origins[1]) == "two")
  }

  @Test func `connections that are kept leave descriptors for other servers`() async {
    await #expect(processExitsWith: .success) { await OwnProcess.run { try await Self.reachesMany() } }
  }

  private static func reachesMany() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "here") }
    // A connection takes two of them here, one for each end; a process of tests has left it files of its own.
    let count = 200 + 2 * ProcessState.descriptors
    OpenFiles.limit(to: rlim_t(count))
    let client = try ClientSample.client()
    for number in 0..<count {
      let url = origin.url("/", host: "h\(number).localhost")
      #expect(try await client.execute(ClientSample.get(url)).body.text() == "here")
    }
  }
}
