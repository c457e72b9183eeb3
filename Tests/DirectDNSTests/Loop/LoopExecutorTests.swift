// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct LoopExecutorTests {
  private func thread() -> String { "\(Thread.current)" }

  @Test func `a task runs on the loop's thread, before and after a request`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let url = origin.url("/", host: "shop.test")
    let threads = try await withTaskExecutorPreference(client.executor) { () async throws -> Set<String> in
      var threads: Set<String> = [thread()]
      for _ in 0..<3 {
        _ = try await client.execute(try ClientSample.get(url)).body.text()
        threads.insert(thread())
      }
      return threads
    }
    #expect(threads.count == 1)
    await origin.stop()
  }

  @Test func `tasks run when the client has ended, too`() async throws {
    let client = try ClientSample.client()
    let executor = client.executor
    await client.shutdown(within: .zero)
    let sum = await withTaskExecutorPreference(executor) {
      await withTaskGroup(of: Int.self) { group in
        for number in 1...10 { group.addTask { number } }
        return await group.reduce(0, +)
      }
    }
    #expect(sum == 55)
  }
}
