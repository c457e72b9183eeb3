// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

struct CurlListTests {
  @Test(arguments: [[], ["a: b"], ["a: b", "", "c: ü"]])
  func `a list holds its strings in their order`(_ strings: [String]) {
    let list = CurlList(strings)
    var found: [String] = []
    var node = unsafe list.head
    while let current = unsafe node {
      unsafe found.append(String(cString: current.pointee.data))
      unsafe node = current.pointee.next
    }
    #expect(found == strings)
  }
}
