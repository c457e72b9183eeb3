// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct NameBytesTests {
  private func words(_ text: String, isFolded: Bool) -> [UInt64] {
    unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      let name = unsafe NameBytes(bytes, isFolded: isFolded)
      return (0..<(name.count + 7) / 8).map(name.word)
    } ?? []
  }

  @Test(arguments: 0...40)
  func `words hold eight bytes each, the first one lowest, and zeros behind the end`(_ count: Int) {
    let text = String((0..<count).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
    var expected: [UInt64] = Array(repeating: 0, count: (count + 7) / 8)
    for (offset, byte) in text.utf8.enumerated() { expected[offset / 8] |= UInt64(byte) << UInt64(offset % 8 * 8) }
    #expect(words(text, isFolded: false) == expected)
    #expect(words(text.uppercased(), isFolded: true) == expected)
    guard count > 0 else { return }
    #expect(words(text + ".", isFolded: true) == expected)
    #expect(words(text + ".", isFolded: false) != expected)
  }

  @Test(arguments: ["a", "www.example.net", "r3---sn-x.googlevideo.com", "a-rather-long-name-of-a-host.example.net"])
  func `the hash of a name as people write it is that of the name`(_ text: String) {
    for spelled in [text, text.uppercased(), text + ".", text.uppercased() + "."] {
      let hash = unsafe spelled.utf8.withContiguousStorageIfAvailable { unsafe NameBytes($0, isFolded: true).hash }
      #expect(hash == NameHash.hash(text))
    }
  }
}
