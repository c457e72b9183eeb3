// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SourceNamesTests {
  @Test func `the system and the store have codes of their own`() {
    let sources = SourceNames()
    #expect(sources[Int(SourceNames.system)] == .system)
    #expect(sources[Int(SourceNames.store)] == .store)
  }

  @Test func `a name keeps its code for good`() throws {
    let sources = SourceNames()
    let one = try #require(sources.code(ofProvider: "one"))
    let two = try #require(sources.code(ofProvider: "two"))
    #expect(one != two)
    #expect(sources.code(ofProvider: "one") == one)
    #expect(sources[Int(one)] == .provider("one"))
    #expect(sources[Int(two)] == .provider("two"))
  }

  @Test func `when all codes are given, names that have one keep it and others get none`() {
    let sources = SourceNames()
    for number in 0..<SourceNames.providerLimit { #expect(sources.code(ofProvider: "\(number)") != nil) }
    #expect(sources.code(ofProvider: "one more") == nil)
    #expect(sources[SourceNames.limit - 1] == .provider("\(SourceNames.providerLimit - 1)"))
    #expect(sources.code(ofProvider: "0") == 2)
  }

  @Test func `a record of the table has room for every code`() {
    var shape = RecordShape()
    shape.source4 = SourceNames.limit - 1
    shape.source6 = SourceNames.limit - 1
    #expect(shape.source4 == SourceNames.limit - 1)
    #expect(shape.source6 == SourceNames.limit - 1)
  }
}
