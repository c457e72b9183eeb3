// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct NumberedWaitsTests {
  @Test func `a value that came first is kept for whoever waits for it`() async {
    let waits = NumberedWaits<String, String>()
    waits.deliver("two", under: 2)
    waits.deliver("one", under: 1)
    #expect(await waits.value(of: 1) == "one")
    #expect(await waits.value(of: 2) == "two")
  }

  @Test func `whoever waits gets the value of his number, in whatever order they come`() async {
    let waits = NumberedWaits<Int, Int>()
    await withTaskGroup(of: (Int, Int).self) { group in
      for number in 1...500 { group.addTask { (number, await waits.value(of: Number(rawValue: number))) } }
      for number in (1...500).reversed() {
        group.addTask {
          waits.deliver(10 * number, under: Number(rawValue: number))
          return (1, 10)
        }
      }
      for await (number, value) in group { #expect(value == 10 * number) }
    }
  }

  @Test func `a table says who is to be resumed, and keeps what nobody waits for`() async {
    let waits = NumberedWaits<Int, Int>()
    async let value = waits.value(of: 7)
    #expect(waits.table.withLock { $0.fulfil(3, under: 8) } == nil)
    waits.deliver(1, under: 7)
    #expect(await value == 1)
    #expect(await waits.value(of: 8) == 3)
  }
}
