// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LookupOrderTests {
  @Test(arguments: [
    ("", false), ("passwd: dns files\n", false), ("hosts: files dns\n", false), ("hosts: dns files\n", true),
    ("hosts:\tmymachines resolve [!UNAVAIL=return] files myhostname dns\n", true),
    ("hosts: files mymachines resolve dns\r\n", false), (" hosts :  DNS  files", true),
    ("hosts: mdns4_minimal [NOTFOUND=return]\n", false), ("# hosts: dns files\nhosts: files dns\n", false),
    // Of several lines the last one counts, unless it says nothing.
    ("hosts: dns files\nhosts: files dns\n", false), ("hosts: dns files\nhosts: myhostname\n", true),
  ])
  func `what nsswitch.conf names first of the DNS and the hosts file comes first`(_ text: String, _ expected: Bool) {
    #expect(LookupOrder(nsswitch: text).asksDNSFirst == expected)
  }

  @Test func `without the file the hosts file comes first`() {
    #expect(!LookupOrder(ofFile: "/nonexistent/nsswitch.conf").asksDNSFirst)
  }
}
