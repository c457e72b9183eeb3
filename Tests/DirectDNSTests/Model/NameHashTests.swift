import Testing

@testable import DirectDNS

struct NameHashTests {
  @Test func `the same name has the same hash, and others have others`() {
    let names = (0..<2000).map { "host-\($0).example.test" } + ["", "a", "a.b", "abcdefgh", "abcdefgh0", "\0", "\0\0"]
    #expect(Set(names.map(NameHash.hash)).count == names.count)
    #expect(NameHash.hash("www.example.test") == NameHash.hash("www." + "example.test"))
  }

  @Test func `every byte of a name counts`() {
    let name = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    var hashes: Set<UInt64> = [NameHash.hash(String(decoding: name, as: UTF8.self))]
    for index in name.indices {
      var other = name
      other[index] = 0x30
      hashes.insert(NameHash.hash(String(decoding: other, as: UTF8.self)))
    }
    #expect(hashes.count == name.count + 1)
  }
}
