import Testing

@testable import DirectDNS

struct AnswerTests {
  @Test func `a negative answer has no addresses, and a positive one has its own`() {
    #expect(Answer(.negative(.nameNotFound), ttl: 5).addresses.isEmpty)
    #expect(Answer(.negative(.noAddress), ttl: nil).addresses.isEmpty)
    #expect(Answer(.addresses([.ipv4(1), .ipv4(2)]), ttl: 5).addresses == [.ipv4(1), .ipv4(2)])
  }

  @Test func `no such name and no such address are different answers`() {
    #expect(Answer(.negative(.nameNotFound), ttl: 5) != Answer(.negative(.noAddress), ttl: 5))
  }
}
