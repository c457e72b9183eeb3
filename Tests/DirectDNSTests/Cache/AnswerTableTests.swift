// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(4)))
struct AnswerTableTests: AnswerTableSuite {
  // MARK: Finding

  @Test func `an empty table knows nothing`() {
    let table = AnswerTable(capacity: 10)
    #expect(table.count == 0)
    #expect(table.read(Self.name(1)) == nil)
    #expect(table.read(spelled: "n1.example.net") == nil)
    #expect(table.value(Self.name(1)) == nil)
    #expect(table.find(Self.name(1)) == nil)
    table.remove(Self.name(1))
    #expect(table.count == 0)
  }

  @Test func `what was stored is found, replaced and removed`() {
    let table = AnswerTable(capacity: 10)
    table.store(Self.value(1), for: Self.name(1), lastUsed: 0)
    #expect(table.value(Self.name(1)) == Self.value(1))
    #expect(addresses(table, table.read(Self.name(1))) == [.ipv4(1 << 8)])
    table.store(Self.value(2), for: Self.name(1), lastUsed: 0)
    #expect(table.value(Self.name(1)) == Self.value(2))
    #expect(table.count == 1)
    table.remove(Self.name(1))
    #expect(table.count == 0)
    #expect(table.value(Self.name(1)) == nil)
    #expect(addresses(table, table.read(Self.name(1))) == nil)
  }

  @Test func `names whose probes collide are all found, and none that is not there`() {
    // 12 names in 16 places.
    let table = AnswerTable(capacity: 12)
    for number in 0..<12 { table.store(Self.value(number), for: Self.name(number), lastUsed: 0) }
    for number in 0..<12 {
      #expect(table.value(Self.name(number)) == Self.value(number))
      #expect(addresses(table, table.read(Self.name(number))) == [.ipv4(UInt32(number << 8))])
    }
    for number in 12..<200 { #expect(table.read(Self.name(number)) == nil) }
  }

  // MARK: Growing and removing

  @Test func `a name whose answer grows and shrinks across the sizes of records stays one name`() {
    let table = AnswerTable(capacity: 10)
    table.store(Self.value(2), for: Self.name(2), lastUsed: 0)
    for generation in [0, 1, 2, 3, 4, 3, 2, 1, 0, 4, 0, 4] {
      table.store(Self.value(1, generation: generation), for: Self.name(1), lastUsed: 0)
      #expect(table.value(Self.name(1)) == Self.value(1, generation: generation))
      #expect(table.count == 2)
    }
    #expect(table.value(Self.name(2)) == Self.value(2))
  }

  @Test(arguments: ["b", "c"] as [Character])
  func `the longest names, all addresses and the longest alias of each family have room`(_ letter: Character) {
    let table = AnswerTable(capacity: 10)
    let value = CachedName(
      ipv4: Self.entry((0..<64).map { .ipv4($0) }, alias: Sample.longest("c")),
      ipv6: Self.entry((0..<64).map { .ipv6(high: 1, low: $0) }, alias: Sample.longest(letter)))
    table.store(value, for: Sample.longest("d"), lastUsed: 0)
    #expect(table.value(Sample.longest("d")) == value)
  }

  @Test func `records that were given up are used again`() {
    let table = AnswerTable(capacity: 100)
    for number in 0..<100 {
      table.store(Self.value(number, generation: 1), for: Self.name(number), lastUsed: 0)
    }
    let bytes = table.byteCount
    for round in 1...5 {
      for number in 0..<100 { table.remove(Self.name(number + (round - 1) * 100)) }
      for number in 0..<100 {
        table.store(Self.value(number, generation: 1), for: Self.name(number + round * 100), lastUsed: 0)
      }
    }
    #expect(table.byteCount == bytes)
    #expect(table.count == 100)
  }

  @Test(arguments: 0..<UInt64(Sanitizer.volume(of: 12, atLeast: 2)))
  func `a table says what a dictionary says, whatever is stored and removed`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // 48 names in 64 places: the fullest that an index gets.
    let table = AnswerTable(capacity: 48)
    var model: [HostName: CachedName] = [:]
    for step in 0..<1500 {
      let name = Self.name(Int.random(in: 0..<70, using: &random))
      if model[name] == nil, model.count == 48 || Int.random(in: 0...2, using: &random) == 0 {
        table.remove(name)
      } else if model[name] != nil, Int.random(in: 0...2, using: &random) == 0 {
        table.remove(name)
        model[name] = nil
      } else {
        let value = Self.value(step, generation: Int.random(in: 0...4, using: &random))
        table.store(value, for: name, lastUsed: UInt32(step))
        model[name] = value
      }
      guard step % 25 == 0 || step > 1450 else { continue }
      #expect(table.count == model.count)
      for number in 0..<70 {
        let name = Self.name(number)
        #expect(table.value(name) == model[name], "seed \(seed), step \(step), \(name)")
        #expect((table.read(name) == nil) == (model[name] == nil), "seed \(seed), step \(step), \(name)")
      }
      var seen: [HostName: CachedName] = [:]
      table.visit { words in
        #expect(seen.updateValue(words.value, forKey: HostName(canonical: words.name)) == nil)
        return true
      }
      #expect(seen == model)
    }
  }

  @Test func `random values of any shape come back, or leave no trace of another`() {
    var random = SeededGenerator(seed: 99)
    let table = AnswerTable(capacity: 48)
    for _ in 0..<1500 {
      let (name, value) = RecordWordsTests.randomCase(&random)
      guard table.count < 48 || table.value(name) != nil else { continue }
      table.store(value, for: name, lastUsed: 0)
      #expect(table.value(name) == value)
      if Bool.random(using: &random) { table.remove(name) }
      if table.count == 48 {
        var names: [HostName] = []
        table.visit { words in
          names.append(HostName(canonical: words.name))
          return names.count < 40
        }
        for name in names { table.remove(name) }
        #expect(table.count == 8)
      }
    }
  }

  @Test func `a visit goes round once, from anywhere, and ends when it has seen enough`() {
    let table = AnswerTable(capacity: 20)
    for number in 0..<20 { table.store(Self.value(number), for: Self.name(number), lastUsed: UInt32(number)) }
    for start in [0, 1, 31, 32, UInt64.max, UInt64.max - 5] {
      var seen: [HostName: UInt32] = [:]
      table.visit(from: start) { words in
        seen[HostName(canonical: words.name)] = words.lastUsed
        return true
      }
      #expect(seen == Dictionary(uniqueKeysWithValues: (0..<20).map { (Self.name($0), UInt32($0)) }))
    }
    var count = 0
    table.visit { _ in
      count += 1
      return count < 3
    }
    #expect(count == 3)
  }

  @Test func `memory is what the index and the records take`() {
    let table = AnswerTable(capacity: 1000)
    let empty = table.byteCount
    for number in 0..<10 { table.store(Self.value(number), for: Self.name(number), lastUsed: 0) }
    #expect(table.byteCount == empty + 10 * 96)
    table.store(Self.value(0, generation: 4), for: Self.name(0), lastUsed: 0)
    #expect(table.byteCount > empty + 10 * 128 + 1024)
  }
}
