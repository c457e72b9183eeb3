// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct NameHashTests {
  @Test func `one name has one hash`() {
    #expect(NameHash.hash("www.example.net") == NameHash.hash("www." + "example.net"))
    #expect(HostName(canonical: "www.example.net").hash == NameHash.hash("www.example.net"))
  }

  @Test func `length counts, not only bytes`() {
    // The last step's missing bytes are zero: only the length tells these apart.
    let texts = (0...24).map { String(repeating: "\0", count: $0) }
    #expect(Set(texts.map(NameHash.hash)).count == texts.count)
  }

  @Test(arguments: [1, 7, 8, 9, 15, 16, 17, 63, 253])
  func `every byte counts`(_ length: Int) {
    let base = [UInt8](repeating: UInt8(ascii: "a"), count: length)
    var hashes: Set<UInt64> = [NameHash.hash(String(decoding: base, as: UTF8.self))]
    for index in base.indices {
      var changed = base
      changed[index] = UInt8(ascii: "b")
      hashes.insert(NameHash.hash(String(decoding: changed, as: UTF8.self)))
    }
    #expect(hashes.count == length + 1)
  }

  @Test func `names that differ little spread over the places of a table and over the upper half`() {
    let hashes = (0..<4096).map { NameHash.hash("host-\($0).example.net") }
    #expect(Set(hashes).count == 4096)
    // 64 on average; with random places a count beyond these bounds comes once in a thousand million runs.
    var places = [Int](repeating: 0, count: 64)
    for hash in hashes { places[Int(hash & 63)] += 1 }
    #expect(places.allSatisfy { (20...130).contains($0) })
    var upper = [Int](repeating: 0, count: 64)
    for hash in hashes { upper[Int(hash >> 58)] += 1 }
    #expect(upper.allSatisfy { (20...130).contains($0) })
  }
}

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
