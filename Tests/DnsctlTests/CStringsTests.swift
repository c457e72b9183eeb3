// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

struct CStringsTests {
  @Test func `each word has a pointer to its bytes and a zero, and behind the last one is a null pointer`() {
    let words = CStrings([Array("one".utf8), [], Array("zwölf".utf8)])
    let found = unsafe words.withPointers { pointers in
      unsafe pointers.map { unsafe $0.map { unsafe String(cString: $0) } }
    }
    #expect(found == ["one", "", "zwölf", nil])
  }
}
