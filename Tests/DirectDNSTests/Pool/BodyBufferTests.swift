// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct BodyBufferTests {
  @Test func `the reader gets what came, in its order, once`() {
    var buffer = BodyBuffer()
    var incoming: [UInt8] = [1, 2]
    buffer.append(&incoming)
    incoming = [3]
    buffer.append(&incoming)
    #expect(incoming.isEmpty)
    let taken = buffer.take()
    #expect(taken?.bytes == [1, 2, 3] && taken?.resumes == false)
    #expect(buffer.take() == nil)
  }

  @Test func `a reader that is behind makes the transfer wait, and taking lets it go on, once`() {
    var buffer = BodyBuffer()
    var incoming = [UInt8](repeating: 1, count: 90)
    let isFull = buffer.pauses(adding: 90, kept: 0, limit: 100)
    #expect(!isFull)
    buffer.append(&incoming)
    let pauses = [(10, 0), (11, 0), (5, 6)].map { buffer.pauses(adding: $0.0, kept: $0.1, limit: 100) }
    #expect(pauses == [false, true, true] && buffer.isPaused)
    #expect(buffer.take()?.resumes == true)
    #expect(!buffer.isPaused)
    incoming = [1]
    buffer.append(&incoming)
    #expect(buffer.take()?.resumes == false)
  }

  @Test func `a piece that is larger than the limit is taken when nothing else is there`() {
    var buffer = BodyBuffer()
    let pauses = [0, 1].map { buffer.pauses(adding: 1_000, kept: $0, limit: 100) }
    #expect(pauses == [false, true])
  }

  @Test func `a long piece that the reader keeps is never changed`() {
    var buffer = BodyBuffer()
    var kept: [[UInt8]] = []
    for number in 0..<4 {
      var incoming = [UInt8](repeating: UInt8(number), count: 40_000)
      buffer.append(&incoming)
      if let taken = buffer.take() { kept.append(taken.bytes) }
    }
    #expect(kept == (0..<4).map { [UInt8](repeating: $0, count: 40_000) })
  }
}
