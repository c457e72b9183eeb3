// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RecordWordsTests {
  private static func randomName(_ random: inout SeededGenerator, long: Bool) -> HostName {
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-_")
    let length = long ? Int.random(in: 200...253, using: &random) : Int.random(in: 1...40, using: &random)
    var text = ""
    while text.utf8.count < length {
      let left = length - text.utf8.count
      if !text.isEmpty {
        guard left > 1 else { break }
        text += "."
      }
      let count = min(Int.random(in: 1...63, using: &random), length - text.utf8.count)
      text += "a" + String((1..<max(1, count)).map { _ in letters.randomElement(using: &random) ?? "b" })
    }
    return HostName(canonical: text)
  }

  private static func randomSlot(
    _ family: IPAddress.Family, _ alias: HostName?, _ random: inout SeededGenerator
  ) -> CachedName.Slot {
    let content: Answer.Content
    switch Int.random(in: 0...9, using: &random) {
    case 0: return .neverAsked
    case 1:
      return [.unknown, .notKept, .failed(until: Int64.random(in: 0..<CacheLife.never, using: &random))]
        .randomElement(using: &random) ?? .unknown
    case 2: content = .negative(.nameNotFound)
    case 3: content = .negative(.noAddress)
    default:
      let count =
        Bool.random(using: &random)
        ? Int.random(in: 1...4, using: &random) : Int.random(in: 1...64, using: &random)
      content = .addresses(
        (0..<count).map { _ in
          family == .ipv4
            ? .ipv4(UInt32.random(in: 0 ... .max, using: &random))
            : .ipv6(
              high: UInt64.random(in: 0 ... .max, using: &random),
              low: UInt64.random(in: 0 ... .max, using: &random))
        })
    }
    let asked = Int64.random(in: Int64.min / 4...Int64.max / 4, using: &random)
    return .entry(
      CacheEntry(
        content: content, canonicalName: alias, source: UInt16.random(in: 0...255, using: &random),
        life: CacheLife(askedAt: asked, expireAt: asked + Int64.random(in: 0...1 << 50, using: &random))))
  }

  /// The same cases on every run.
  static func randomCase(_ random: inout SeededGenerator) -> (HostName, CachedName) {
    let aliases = (0..<2).map { _ in
      Bool.random(using: &random)
        ? randomName(&random, long: Int.random(in: 0...3, using: &random) == 0) : nil
    }
    let isSame = Bool.random(using: &random)
    let value = CachedName(
      ipv4: randomSlot(.ipv4, aliases[0], &random),
      ipv6: randomSlot(.ipv6, isSame ? aliases[0] : aliases[1], &random),
      isKeptAlive: Bool.random(using: &random))
    return (randomName(&random, long: Int.random(in: 0...3, using: &random) == 0), value)
  }

  @Test(arguments: 0..<20)
  func `words stand for the value that they were made of`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let (name, value) = Self.randomCase(&random)
      let lastUsed = UInt32.random(in: 0 ... .max, using: &random)
      let words = RecordWords(value, name: name, lastUsed: lastUsed)
      #expect(words.value == value)
      #expect(words.name == name.text)
      #expect(words.lastUsed == lastUsed)
      let shape = RecordShape(words.words[AnswerTable.Field.shape])
      #expect(shape.nameLength == name.text.utf8.count)
      #expect(words.count == AnswerTable.Field.payload + shape.payloadCount)
      // What lies behind a record's end is another's: it must not be read.
      #expect(RecordWords(words: words.words + [.max, .max, .max]).value == value)
    }
  }

  @Test(arguments: 0..<20)
  func `what is kept, and how it lives, is read without making the value`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let (name, value) = Self.randomCase(&random)
      let words = RecordWords(value, name: name, lastUsed: 0)
      for (family, slot) in [(words.ipv4, value.ipv4), (words.ipv6, value.ipv6)] {
        #expect(family.kind.hasAnswer == (slot.entry != nil))
        #expect(family.kind.isNegative == (slot.entry?.isNegative ?? false))
        if let entry = slot.entry { #expect(family.life == entry.life) }
      }
    }
  }

  @Test(arguments: 0..<20)
  func `names have the order of their texts, also where one begins with the other`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var names = ["a", "ab", "a-b", "a.b", "a_b", "a0b", "abcdefgh", "abcdefgh.i", "abcdefghi", "b"].map(Sample.name)
    names += (0..<20).map { _ in Self.randomCase(&random).0 }
    let words = names.map { RecordWords(CachedName(), name: $0, lastUsed: 0) }
    for one in words {
      for other in words { #expect(one.isNamedBefore(other) == (one.name < other.name)) }
    }
  }

  @Test func `more addresses than the limit are cut, never mixed up`() throws {
    let many4 = (0..<100).map { IPAddress.ipv4(UInt32($0)) }
    let many6 = (0..<100).map { IPAddress.ipv6(high: 1, low: UInt64($0)) }
    func entry(_ addresses: [IPAddress]) -> CachedName.Slot {
      .entry(
        CacheEntry(content: .addresses(addresses), canonicalName: nil, source: 2, life: Sample.life(0, 1)))
    }
    let value = CachedName(ipv4: entry(many4), ipv6: entry(many6))
    let read = RecordWords(value, name: Sample.name("a.example"), lastUsed: 0).value
    #expect(read.ipv4 == entry(Array(many4.prefix(64))))
    #expect(read.ipv6 == entry(Array(many6.prefix(64))))
  }

  @Test func `one alias of both families is kept once`() {
    let alias = Sample.longest("c")
    func words(_ other: HostName) -> RecordWords {
      func entry(_ address: String, _ name: HostName) -> CachedName.Slot {
        .entry(
          CacheEntry(
            content: .addresses(Sample.addresses(address)), canonicalName: name, source: 2,
            life: Sample.life(0, 1)))
      }
      return RecordWords(
        CachedName(ipv4: entry("192.0.2.1", alias), ipv6: entry("2001:db8::1", other)),
        name: Sample.name("a.example"), lastUsed: 0)
    }
    let same = words(alias)
    let different = words(Sample.longest("d"))
    #expect(different.count == same.count + 32)
    #expect(same.value.ipv6.entry?.canonicalName == alias)
    #expect(different.value.ipv6.entry?.canonicalName == Sample.longest("d"))
  }

  @Test func `an alias of IPv6 alone is IPv6's`() {
    let entry = CacheEntry(
      content: .negative(.noAddress), canonicalName: Sample.name("b.example"), source: 2,
      life: Sample.life(0, 1))
    let value = CachedName(ipv4: .neverAsked, ipv6: .entry(entry))
    #expect(RecordWords(value, name: Sample.name("a.example"), lastUsed: 0).value == value)
  }

  @Test func `the fields of a shape do not touch one another`() {
    var shape = RecordShape()
    let all = RecordShape(.max)
    #expect(all.nameLength == 255)
    #expect(all.count4 == 127)
    #expect(all.count6 == 127)
    shape.nameLength = 253
    shape.canonical4 = 252
    shape.canonical6 = 255
    shape.count4 = 64
    shape.count6 = 63
    shape.kind4 = .noAddress
    shape.kind6 = .nameNotFound
    shape.source4 = 255
    shape.source6 = 1
    shape.isKeptAlive = true
    #expect(shape.nameLength == 253)
    #expect(shape.canonical4 == 252)
    #expect(shape.canonical6 == 255)
    #expect(shape.count4 == 64)
    #expect(shape.count6 == 63)
    #expect(shape.kind4 == .noAddress)
    #expect(shape.kind6 == .nameNotFound)
    #expect(shape.source4 == 255)
    #expect(shape.source6 == 1)
    #expect(shape.isKeptAlive)
    shape.isKeptAlive = false
    shape.source6 = 0
    #expect(!shape.isKeptAlive)
    #expect(shape.source4 == 255)
    #expect(shape.source6 == 0)
  }

  @Test func `short names cost no more than they need`() {
    let value = CachedName(
      ipv4: .entry(
        CacheEntry(
          content: .addresses(Sample.addresses("192.0.2.1", "192.0.2.2")), canonicalName: nil, source: 2,
          life: Sample.life(0, 1))))
    let words = RecordWords(value, name: Sample.name("www.example.net"), lastUsed: 0)
    #expect(words.count == AnswerTable.Field.payload + 2 + 1)
  }
}
