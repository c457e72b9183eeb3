// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ServiceBindingTests {
  private func binding(_ parameters: [UInt16: [UInt8]]) -> ServiceBinding {
    ServiceBinding(priority: 1, target: .root, parameters: parameters)
  }

  @Test(
    arguments: [
      ([2, 0x68, 0x32], ["h2"]), ([2, 0x68, 0x33, 2, 0x68, 0x32], ["h3", "h2"]), ([], []),
      ([3, 0x68, 0x32], []), ([2, 0x68, 0x32, 9], []), ([0], [""]), ([255], []),
    ] as [([UInt8], [String])])
  func `alpn is a list of texts, each behind its length`(_ value: [UInt8], _ expected: [String]) {
    #expect(binding([1: value]).alpn == expected)
  }

  @Test(
    arguments: [([0x20, 0xfb], 8443), ([0, 0], 0), ([1], nil), ([], nil), ([1, 2, 3], nil)]
      as [([UInt8], UInt16?)])
  func `a port is two bytes`(_ value: [UInt8], _ expected: UInt16?) {
    #expect(binding([3: value]).port == expected)
  }

  @Test func `hints are whole addresses of both families, IPv4 first`() throws {
    let four: [UInt8] = [192, 0, 2, 7, 192, 0, 2, 8]
    let six: [UInt8] = [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [9]
    #expect(
      binding([4: four, 6: six]).hints.map(\.description) == ["192.0.2.7", "192.0.2.8", "2001:db8::9"])
    #expect(binding([4: [1, 2, 3], 6: [1]]).hints == [])
    #expect(binding([:]).hints == [])
  }

  @Test func `what is missing is nothing`() {
    #expect(binding([:]).alpn == [] && binding([:]).port == nil)
  }
}
