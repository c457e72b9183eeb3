// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct StoreTelemetryTests {
  @Test func `an observer hears what became of the store`() throws {
    let events = Locked<[ResolverEvent]>([])
    let report = StoreTelemetry(name: "memory") { event in events.withLock { $0.append(event) } }
    report.note(.failed(ScriptedStore.error))
    report.note(.recovered)
    report.note(.dropped(answers: 3))
    let told = events.withLock { events in
      events.map { event in
        switch event {
        case .store(let name, .failed(let error)): "\(name): \(error.message)"
        case .store(let name, .recovered): "\(name) works"
        case .store(let name, .dropped(let count)): "\(name): \(count)"
        default: "another"
        }
      }
    }
    #expect(told == ["memory: The store is out of order.", "memory works", "memory: 3"])
  }
}
