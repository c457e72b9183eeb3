// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

struct CurlListTests {
  @Test(arguments: [[], ["a: b"], ["a: b", "", "c: ü"]])
  func `a list holds its strings in their order, also where there is no memory for more`(_ strings: [String]) {
    var list = CurlList(strings)
    let wasComplete = list.isComplete
    unsafe list.take(nil)
    let isComplete = list.isComplete
    #expect(wasComplete && !isComplete)
    var found: [String] = []
    var node = unsafe list.head
    while let current = unsafe node {
      unsafe found.append(String(cString: current.pointee.data))
      unsafe node = current.pointee.next
    }
    #expect(found == strings)
  }
}
