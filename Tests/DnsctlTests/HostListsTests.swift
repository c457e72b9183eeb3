// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

struct HostListsTests {
  @Test(arguments: [
    ("", 0), ("\n", 0), ("a.example", 1), ("a.example\n", 1), ("a.example\r\n\r\nb.example", 2),
    ("# all of them\n\t # indented\n a.example # one\nb.example#two\n", 2), (" \n\t\n", 0),
  ])
  func `lines are counted that are neither blank nor comments`(_ text: String, _ count: Int) {
    #expect(HostLists.lines(Array(text.utf8)) == count)
  }
}
