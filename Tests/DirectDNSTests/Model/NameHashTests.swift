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
