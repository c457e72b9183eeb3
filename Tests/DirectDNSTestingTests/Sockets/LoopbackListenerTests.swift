// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNSTesting

struct LoopbackListenerTests {
  @Test func `it is connected to at its port, which is its own`() async throws {
    let (first, second) = (try #require(LoopbackListener()), try #require(LoopbackListener()))
    #expect(first.port != second.port)
    let said = try await RawClient.connected(to: Int(first.port)) { client in
      let accepted = accept(first.descriptor, nil, nil)
      _ = unsafe send(accepted, "first", 5, 0)
      close(accepted)
      return try await client.rest()
    }
    #expect(said == "first")
    for listener in [first, second] { close(listener.descriptor) }
  }
}
