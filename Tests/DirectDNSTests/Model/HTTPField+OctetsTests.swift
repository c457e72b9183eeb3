// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct HTTPFieldOctetsTests {
  @Test(arguments: [[0x61], [], Array("caf\u{E9}".utf8), [0x61, 0xE9, 0x62], [0xFF, 0x80]] as [[UInt8]])
  func `a value's octets are those that it was made of`(_ octets: [UInt8]) {
    var bytes: [UInt8] = [1]
    bytes.append(valueOf: HTTPField(name: .server, value: octets))
    #expect(bytes == [1] + octets)
  }
}
