import Testing

@testable import DirectDNS

struct AddressListTests {
  private static let pool: [IPAddress] = (0..<70).map { number in
    number.isMultiple(of: 3) ? .ipv6(high: 0x2001_0db8 << 32, low: UInt64(number)) : .ipv4(0xc000_0200 + UInt32(number))
  }

  @Test(arguments: [0, 1, 2, 4, 5, 64, 70])
  func `addresses stay in their order, however many there are`(_ count: Int) {
    let expected = Array(Self.pool.prefix(count))
    let list = AddressList(expected)
    #expect(list.count == count)
    #expect(Array(list) == expected)
    #expect(list == AddressList(expected))
    #expect(list.hashValue == AddressList(expected).hashValue)
  }

  @Test(arguments: [1, 4, 5])
  func `an address can take another one's place, of the other family too`(_ count: Int) {
    var list = AddressList(Self.pool.prefix(count))
    let other = IPAddress.ipv6(high: 1, low: 2)
    list[count - 1] = other
    #expect(Array(list) == Array(Self.pool.prefix(count - 1)) + [other])
    list[count - 1] = .ipv4(7)
    #expect(list[count - 1] == .ipv4(7))
  }

  @Test func `lists in another order are other lists`() {
    #expect(AddressList(Self.pool.prefix(2)) != AddressList(Self.pool.prefix(2).reversed()))
    #expect([.ipv4(1)] as AddressList != [])
    #expect(AddressList(arrayLiteral: .ipv4(0xc000_0201)).description == "[192.0.2.1]")
  }
}
