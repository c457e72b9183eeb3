// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AddressListTests {
  /// Addresses of both families by turns.
  private func some(_ count: Int) -> [IPAddress] {
    (0..<count).map { number -> IPAddress in
      if number % 2 == 0 { return .ipv4(0xC000_0200 + UInt32(number)) }
      return .ipv6(high: UInt64(number), low: .max - UInt64(number))
    }
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 8, 64, 200])
  func `a list holds any number of addresses in their order`(_ count: Int) {
    let addresses = some(count)
    let list = AddressList(addresses)
    #expect(list.count == count)
    #expect(list.isEmpty == (count == 0))
    #expect(Array(list) == addresses)
    for index in addresses.indices { #expect(list[index] == addresses[index]) }
    #expect(list.first == addresses.first)
    #expect(list.last == addresses.last)
  }

  /// Lists on both sides of what needs no allocation.
  static let mixtures: [(ipv4: Int, ipv6: Int)] = [
    (16, 0), (17, 0), (0, 4), (0, 5), (4, 3), (5, 3), (8, 2), (9, 2), (12, 1), (13, 1), (1, 4),
  ]

  @Test(arguments: mixtures)
  func `adding goes on beyond what needs no allocation`(_ ipv4: Int, _ ipv6: Int) {
    let all4 = (0..<UInt32(ipv4)).map { IPAddress.ipv4(0xFFFF_FFFF - $0) }
    let all6 = (0..<UInt64(ipv6)).map { IPAddress.ipv6(high: .max - $0, low: .max << $0) }
    let byTurns = (0..<max(ipv4, ipv6)).flatMap { Array(all4.dropFirst($0).prefix(1) + all6.dropFirst($0).prefix(1)) }
    for addresses in [all4 + all6, all6 + all4, byTurns] {
      var list = AddressList()
      for (index, address) in addresses.enumerated() {
        list.append(address)
        #expect(Array(list) == Array(addresses.prefix(index + 1)))
      }
      for index in addresses.indices {
        list[index] = .ipv4(UInt32(index))
        #expect(Array(list) == addresses.indices.map { $0 <= index ? .ipv4(UInt32($0)) : addresses[$0] })
      }
    }
  }

  @Test(arguments: mixtures)
  func `what needs no allocation is told before it is added`(_ ipv4: Int, _ ipv6: Int) {
    #expect(AddressList.fitsInline(ipv4: ipv4, ipv6: ipv6) == (ipv6 * 4 + (ipv4 + 3) / 4 * 4 <= 16))
  }

  @Test(arguments: [1, 4, 5, 9])
  func `an address can be replaced by one of the other family`(_ count: Int) {
    for index in 0..<count {
      var list = AddressList(some(count))
      var expected = some(count)
      let other: IPAddress = expected[index].family == .ipv4 ? .ipv6(high: 9, low: 9) : .ipv4(9)
      list[index] = other
      expected[index] = other
      #expect(Array(list) == expected)
    }
  }

  @Test(arguments: [2, 4, 5, 12])
  func `a list can be reversed, swapped and sorted in place`(_ count: Int) {
    var list = AddressList(some(count))
    list.reverse()
    #expect(Array(list) == some(count).reversed())
    list.swapAt(0, count - 1)
    #expect(list[0] == some(count)[0])
    list.sort()
    #expect(Array(list) == some(count).sorted())
  }

  @Test func `a copy is a value of its own`() {
    for count in [3, 6] {
      let list = AddressList(some(count))
      var copy = list
      copy[0] = .ipv4(1)
      copy.append(.ipv4(2))
      #expect(Array(list) == some(count))
      #expect(copy.count == count + 1)
    }
  }

  @Test func `lists are equal when the same addresses stand in the same order`() {
    let list: AddressList = [.ipv4(1), .ipv6(high: 0, low: 1)]
    #expect(list == AddressList([.ipv4(1), .ipv6(high: 0, low: 1)]))
    #expect(list != AddressList([.ipv6(high: 0, low: 1), .ipv4(1)]))
    #expect(list != AddressList([.ipv4(1)]))
    #expect(AddressList([.ipv4(1)]) != AddressList([.ipv6(high: 0, low: 1)]))
    #expect(Set([list, AddressList(Array(list)), []]).count == 2)
    #expect(AddressList(some(7)) == AddressList(some(7)))
    #expect(AddressList(some(7)).hashValue == AddressList(some(7)).hashValue)
  }

  @Test func `a list is shown as its addresses`() {
    #expect("\(AddressList())" == "[]")
    #expect("\(AddressList([.ipv4(0x7F00_0001), .ipv6(high: 0, low: 1)]))" == "[127.0.0.1, ::1]")
  }
}
