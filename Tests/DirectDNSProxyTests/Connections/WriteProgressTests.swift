// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

@Suite("Whether the other side takes what was written", .timeLimit(.minutes(1)))
struct WriteProgressTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  @Test func `it does when less waits than before, and not when more was written`() {
    var progress = WriteProgress()
    progress.wrote()
    let looks = [(9, 0), (9, 0), (8, 2), (12, 2), (12, 2), (1, 5), (0, 6)]
    for (second, (left, last)) in looks.enumerated() {
      progress.look(at: start + .seconds(Int64(second))) { left }
      #expect(progress.last == (last == 0 ? .uptimeNanoseconds(0) : start + .seconds(Int64(last))), "\(second)")
    }
  }

  @Test func `what has arrived is not looked at again until something more is written`() {
    var progress = WriteProgress()
    var looks = 0
    let look = {
      looks += 1
      return 0
    }
    for _ in 0..<3 { progress.look(at: start, look) }
    #expect(looks == 0)
    progress.wrote()
    for _ in 0..<3 { progress.look(at: start, look) }
    #expect(looks == 1)
  }

  @Test func `what the kernel holds has not arrived`() async throws {
    let listener = try await RawListener.start()
    let client = try await RawConnection.connect(to: listener.port)
    let server = try await listener.connection()
    try await server.pause()
    let size = 16 << 20
    client.post([UInt8](repeating: 0x78, count: size))
    var (waiting, all) = (0, 0)
    // Until nothing moves.
    while all <= waiting || all == 0 {
      (waiting, all) = (await client.unsentCount, try await client.unacknowledgedCount)
    }
    #expect(all > waiting && all < size, "the other side's kernel holds some of it, and says so")
    try await server.resume()
    await server.receive(count: size)
    // The last acknowledgement may still be on its way.
    var left = 1
    while left > 0 { left = try await client.unacknowledgedCount }
    #expect(left == 0)
    await client.close()
    await listener.stop()
  }
}
