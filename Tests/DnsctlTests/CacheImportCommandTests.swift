// SPDX-License-Identifier: Apache-2.0
import DirectDNSSQLite
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl cache import` {
  @Test(arguments: [(50_000, true), (64 << 20, false)])
  func `says when the store is too small for all that was imported`(_ size: Int, _ isFull: Bool) async throws {
    let folder = try TestFolder()
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([Self.export(1000)])
    fixture.store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: folder.path + "/a.sqlite", maximumBytes: size))
    let outcome = await fixture.run(["cache", "import", "--store", "redis://cache.example"])
    var left = 0
    for number in 0..<1000 {
      left += try await fixture.store?.read([AddressQuestion(HostName("host-\(number).example"), .ipv4)]).count ?? 0
    }
    #expect((left < 1000) == isFull)
    let room = isFull ? ", \(1000 - left) without room" : ""
    #expect(outcome.output == "\(left) stored, 0 kept as newer or the same, 0 gone\(room)\n")
    #expect(outcome.errors.contains("the store is full") == isFull)
    #expect(outcome.status == (isFull ? 74 : 0))
  }

  @Test func `says when a store has evicted others than those that are gone first`() async throws {
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([Self.export(600)])
    fixture.store = EvictingStore(victim: AddressQuestion(try HostName("host-300.example"), .ipv4))
    let outcome = await fixture.run(["cache", "import", "--store", "redis://cache.example"])
    #expect(outcome.output == "599 stored, 0 kept as newer or the same, 0 gone, 1 without room\n")
    #expect(outcome.errors.contains("the store is full, and has evicted answers."), "\(outcome.errors)")
    #expect(outcome.status == 74)
  }

  /// An export of so many answers, each of which lasts for a second longer than the one before it.
  private static func export(_ count: Int) -> String {
    var lines = AnswerFile.head
    for number in 0..<count {
      lines +=
        #"{"host":"host-\#(number).example","type":"A","addresses":["192.0.2.1"],"provider":"a","asked":1700000000000,"expires":1700000100000,"gone":170008\#(6500 + number)000}"#
        + "\n"
    }
    return lines
  }
}

/// A store that evicts one answer whenever it is written, however long that would last.
private struct EvictingStore: AnswerStore {
  let base = MemoryAnswerStore()
  let victim: AddressQuestion

  var name: String { base.name }

  func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] { base.read(questions) }

  func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
    base.write(answers)
    base.remove([victim])
  }

  func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int {
    let count = await base.writeNewer(answers)
    base.remove([victim])
    return count
  }

  func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) { base.remove(questions) }

  func removeAll() async throws(DirectDNSError) { base.removeAll() }

  func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
    await base.visit(visit)
  }
}
