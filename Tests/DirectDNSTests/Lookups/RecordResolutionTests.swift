// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RecordResolutionTests {
  private let question = DNSQuestion(name: DNSName(Sample.name("a.example")), type: .mx)

  @Test func `a negative answer is thrown, NODATA other than NXDOMAIN`() {
    for (isMissing, code) in [(true, DirectDNSError.Code.nameNotFound), (false, .noRecord)] {
      let error = #expect(throws: DirectDNSError.self) {
        try RecordResolution(RecordAnswer(records: [], isNameMissing: isMissing), to: question, from: "one")
      }
      #expect(error?.code == code)
      #expect(error?.message.hasPrefix("a.example") == true, "\(error?.message ?? "")")
    }
  }

  @Test func `addresses become records of the end of the chain, with what is left of their lifetime`() {
    let resolution = Resolution(
      addresses: AddressList(Sample.addresses("192.0.2.1")), canonicalName: Sample.name("web.example"),
      freshness: .stale, source: .store, ageNanoseconds: 9_000_000_000, timeToLiveNanoseconds: -1)
    let found = RecordResolution(resolution, of: Sample.name("a.example"), .a)
    #expect(found.records.map(\.description) == ["web.example. 30 IN A 192.0.2.1"])
    #expect(found.canonicalName?.description == "web.example." && found.freshness == .stale && found.source == .store)
    #expect(found.age == .seconds(9) && found.isAuthenticated == nil)
  }
}
