// SPDX-License-Identifier: Apache-2.0
import DirectDNSSQLite
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl cache import` {
  @Test(arguments: [(50_000, true), (64 << 20, false)])
  func `says when the store is too small for all that was imported`(_ size: Int, _ isFull: Bool) async throws {
    let folder = try TestFolder()
    var lines = AnswerFile.head
    for number in 0..<1000 {
      lines +=
        #"{"host":"host-\#(number).example","type":"A","addresses":["192.0.2.1"],"provider":"a","asked":1700000000000,"expires":1700000100000,"gone":170008\#(6500 + number)000}"#
        + "\n"
    }
    var fixture = CommandFixture()
    fixture.input = ScriptedInput([lines])
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
}
