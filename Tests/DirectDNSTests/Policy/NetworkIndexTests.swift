// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct NetworkIndexTests {
  @Test(arguments: [
    ("9.255.255.255", nil), ("10.0.0.0", 0), ("10.1.0.0", 1), ("10.1.2.2", 1), ("10.1.2.3", 2), ("10.1.2.4", 1),
    ("10.1.255.255", 1), ("10.2.0.0", 0), ("10.255.255.255", 0), ("11.0.0.0", nil), ("0.0.0.0", nil),
    ("239.255.255.255", nil), ("240.0.0.0", 3), ("255.255.255.255", 3),
  ])
  func `the most specific network around an address is found`(_ address: String, _ place: Int?) {
    let index = NetworkIndex(
      ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32", "240.0.0.0/4"].map(IPNetwork.init(constant:)))
    #expect(index.mostSpecific(around: Sample.address(address)) == place)
  }

  @Test func `the order of the list makes no difference`() {
    let index = NetworkIndex(["::1/128", "::/0", "::/96"].map(IPNetwork.init(constant:)))
    #expect(index.mostSpecific(around: Sample.address("::")) == 2)
    #expect(index.mostSpecific(around: Sample.address("::1")) == 0)
    #expect(index.mostSpecific(around: Sample.address("::2")) == 2)
    #expect(index.mostSpecific(around: Sample.address("0:0:0:0:0:1::")) == 1)
    #expect(index.mostSpecific(around: Sample.address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")) == 1)
  }

  @Test func `what lies before the first network is in none`() {
    let index = NetworkIndex([IPNetwork(constant: "0.0.0.1/32")])
    #expect(index.mostSpecific(around: Sample.address("0.0.0.0")) == nil)
    #expect(index.mostSpecific(around: Sample.address("0.0.0.1")) == 0)
    #expect(index.mostSpecific(around: Sample.address("0.0.0.2")) == nil)
  }

  @Test func `an empty list finds nothing`() {
    #expect(NetworkIndex([]).mostSpecific(around: Sample.address("192.0.2.1")) == nil)
  }

  @Test func `it agrees with a search of the list, for any networks`() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<200 {
      let networks = Set(
        (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
          // Few bits apart, so that networks nest and touch.
          IPNetwork(
            address: .ipv6(high: 0, low: .random(in: 0..<512, using: &generator)),
            prefixLength: .random(in: 119...128, using: &generator))
        }
      ).sorted { $0.description < $1.description }
      let index = NetworkIndex(networks)
      for value in 0..<UInt64(520) {
        let address = IPAddress.ipv6(high: 0, low: value)
        let around = networks.indices.filter { networks[$0].contains(address) }
        let expected = around.max { networks[$0].prefixLength < networks[$1].prefixLength }
        #expect(index.mostSpecific(around: address) == expected)
      }
    }
  }
}
