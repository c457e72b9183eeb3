// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(2)))
struct AnswerTableReadingTests: AnswerTableSuite {
  // MARK: Names as people write them

  @Test(arguments: [
    "www.example.net", "WWW.EXAMPLE.NET", "Www.Example.Net", "www.example.net.", "WWW.EXAMPLE.NET.",
  ])
  func `upper case and one final dot do not matter to a name as people write it`(_ text: String) {
    let table = AnswerTable(capacity: 10)
    table.store(Self.value(7), for: Sample.name("www.example.net"), lastUsed: 0)
    #expect(addresses(table, table.read(spelled: text)) == [.ipv4(7 << 8)])
  }

  @Test(arguments: [
    "", ".", "www.example.net..", ".www.example.net", "www.example.ne", "www.example.nett", "ww.example.net",
    "www.example.net\0", "www.example.net ", "www_example.net", "ｗｗｗ.example.net",
    "w\u{57}\u{D7}.example.net",
  ])
  func `any other text is another name`(_ text: String) {
    let table = AnswerTable(capacity: 10)
    table.store(Self.value(7), for: Sample.name("www.example.net"), lastUsed: 0)
    #expect(table.read(spelled: text) == nil)
  }

  @Test func `letters have two cases and nothing else does`() {
    for byte in UInt8(0x21)...0x7E {
      let typed = Character(UnicodeScalar(byte))
      let other = Character(UnicodeScalar(byte ^ 0x20))
      let table = AnswerTable(capacity: 10)
      table.store(Self.value(1), for: HostName(canonical: "\(other)a.example"), lastUsed: 0)
      #expect((table.read(spelled: "\(typed)A.EXAMPLE") != nil) == typed.isUppercase, "\(typed)")
    }
  }

  @Test(arguments: 1...40)
  func `names of every length are told apart by their last byte`(_ length: Int) {
    let table = AnswerTable(capacity: 10)
    let stem = String(repeating: "a", count: length - 1)
    table.store(Self.value(1), for: HostName(canonical: stem + "b"), lastUsed: 0)
    #expect(addresses(table, table.read(HostName(canonical: stem + "b"))) == [.ipv4(1 << 8)])
    #expect(addresses(table, table.read(spelled: stem.uppercased() + "B.")) == [.ipv4(1 << 8)])
    #expect(table.read(HostName(canonical: stem + "c")) == nil)
    #expect(table.read(spelled: stem + "c") == nil)
    #expect(table.read(HostName(canonical: stem + "bb")) == nil)
    #expect(length == 1 || table.read(HostName(canonical: stem)) == nil)
  }

  // MARK: Families

  @Test func `the preferred family's addresses come first`() throws {
    let table = AnswerTable(capacity: 10)
    let all4 = Sample.addresses("192.0.2.1", "192.0.2.2")
    let all6 = Sample.addresses("2001:db8::1")
    table.store(CachedName(ipv4: Self.entry(all4), ipv6: Self.entry(all6)), for: Self.name(1), lastUsed: 0)
    let reading = try #require(table.read(Self.name(1)))
    for (wanted, prefersIPv6, expected) in [
      (AddressFamilies.any, true, all6 + all4), (.any, false, all4 + all6), (.ipv4, true, all4), (.ipv4, false, all4),
      (.ipv6, true, all6), (.ipv6, false, all6), ([], true, []),
    ] {
      var addresses = AddressList()
      table.append(wanted, of: reading, prefersIPv6: prefersIPv6, to: &addresses)
      #expect(Array(addresses) == expected)
    }
  }

  @Test(
    arguments: [
      (nil, true, "64"), (nil, false, "46"), (.ipv6, true, "46"), (.ipv6, false, "46"), (.ipv4, true, "64"),
      (.ipv4, false, "64"),
    ] as [(IPAddress.Family?, Bool, String)])
  func `a family that goes behind the other comes last, whichever is preferred`(
    _ behind: IPAddress.Family?, _ prefersIPv6: Bool, _ expected: String
  ) throws {
    for count in [1, 9] {
      let table = AnswerTable(capacity: 10)
      let all4 = (0..<count).map { IPAddress.ipv4(0xC000_0200 + UInt32($0)) }
      let all6 = (0..<count).map { IPAddress.ipv6(high: 0x2001_0db8_0000_0000, low: UInt64($0)) }
      let order = RecordOrder(equals4: 0, equals6: 0, behind: behind, changesAt: nil, revision: 0)
      table.store(
        CachedName(ipv4: Self.entry(all4), ipv6: Self.entry(all6)), for: Self.name(1), order: order, lastUsed: 0)
      var addresses = AddressList()
      let reading = try #require(table.read(Self.name(1)))
      table.append(.any, of: reading, prefersIPv6: prefersIPv6, to: &addresses)
      #expect(Array(addresses) == (expected == "64" ? all6 + all4 : all4 + all6))
    }
  }

  @Test(arguments: [
    (0, 1), (1, 0), (2, 2), (4, 0), (0, 4), (3, 2), (5, 0), (0, 5), (64, 0), (0, 64), (64, 64), (7, 9),
  ])
  func `any number of addresses comes out in its order`(_ count4: Int, _ count6: Int) throws {
    let all4 = (0..<count4).map { IPAddress.ipv4(0xC000_0200 + UInt32($0)) }
    let all6 = (0..<count6).map { IPAddress.ipv6(high: 0x2001_0db8_0000_0000, low: UInt64($0)) }
    let table = AnswerTable(capacity: 10)
    table.store(
      CachedName(
        ipv4: all4.isEmpty ? .neverAsked : Self.entry(all4),
        ipv6: all6.isEmpty ? .neverAsked : Self.entry(all6)),
      for: Self.name(1), lastUsed: 0)
    let reading = try #require(table.read(Self.name(1)))
    for prefersIPv6 in [true, false] {
      var addresses = AddressList()
      table.append(.any, of: reading, prefersIPv6: prefersIPv6, to: &addresses)
      #expect(Array(addresses) == (prefersIPv6 ? all6 + all4 : all4 + all6))
    }
  }

  @Test func `those that take turns change places within their family, and no others`() throws {
    let table = AnswerTable(capacity: 10)
    let all4 = Sample.addresses("192.0.2.1", "192.0.2.2", "192.0.2.3")
    let all6 = Sample.addresses("2001:db8::1", "2001:db8::2")
    let order = RecordOrder(equals4: 2, equals6: 2, changesAt: nil, revision: 0)
    table.store(
      CachedName(ipv4: Self.entry(all4), ipv6: Self.entry(all6)), for: Self.name(1), order: order, lastUsed: 0)
    let reading = try #require(table.read(Self.name(1)))
    var addresses = AddressList()
    table.append(.any, of: reading, prefersIPv6: false, turn: AddressOrder.Turn(number: 1 << 31), to: &addresses)
    #expect(Array(addresses) == Sample.addresses("192.0.2.2", "192.0.2.1", "192.0.2.3", "2001:db8::2", "2001:db8::1"))
  }

  @Test func `turns are taken by more addresses than a list holds in place, too`() throws {
    let table = AnswerTable(capacity: 10)
    let all = (0..<20).map { IPAddress.ipv4($0) }
    table.store(CachedName(ipv4: Self.entry(all)), for: Self.name(1), lastUsed: 0)
    let reading = try #require(table.read(Self.name(1)))
    var addresses = AddressList()
    table.append(.any, of: reading, prefersIPv6: false, turn: AddressOrder.Turn(number: 1 << 31), to: &addresses)
    #expect(Array(addresses) == Array(all[10...] + all[..<10]))
  }

  // MARK: Use

  @Test func `reading a name notes its use`() throws {
    let table = AnswerTable(capacity: 10)
    table.store(Self.value(1), for: Self.name(1), lastUsed: 5)
    let reading = try #require(table.read(Self.name(1)))
    #expect(table.confirm(reading, seconds: 9))
    var used: UInt32?
    table.visit { words in
      used = words.lastUsed
      return true
    }
    #expect(used == 9)
  }

  // MARK: Readers beside a writer

  @Test func `a reading is void once its record was changed, moved, removed or used again`() throws {
    let table = AnswerTable(capacity: 10)
    table.store(Self.value(1), for: Self.name(1), lastUsed: 0)
    let first = try #require(table.read(Self.name(1)))
    #expect(table.confirm(first, seconds: 0))
    table.store(Self.value(2), for: Self.name(1), lastUsed: 0)
    #expect(!table.confirm(first, seconds: 0))

    let second = try #require(table.read(Self.name(1)))
    table.store(Self.value(2, generation: 4), for: Self.name(1), lastUsed: 0)
    #expect(!table.confirm(second, seconds: 0))

    let third = try #require(table.read(Self.name(1)))
    table.remove(Self.name(1))
    #expect(!table.confirm(third, seconds: 0))

    table.store(Self.value(3, generation: 4), for: Self.name(3), lastUsed: 0)
    #expect(!table.confirm(third, seconds: 0))
  }

  @Test func `readers never see another name's addresses while a writer changes, evicts and reuses records`()
    async
  {
    let table = AnswerTable(capacity: 24)
    let names = (0..<32).map(Self.name)
    let spelled = names.map { $0.text.uppercased() + "." }
    let isDone = Locked(false)
    // Filled beforehand, so that readers find something whoever comes first.
    for number in 0..<24 { table.store(Self.value(number, generation: 0), for: names[number], lastUsed: 0) }
    // Every word of a value tells its name's number; a word of another is a torn or a foreign read.
    @Sendable func wrong(_ addresses: [IPAddress], _ number: Int) -> Bool {
      let all4 = addresses.filter { $0.family == .ipv4 }
      let all6 = addresses.filter { $0.family == .ipv6 }
      let is4 = all4.enumerated().allSatisfy { $1 == .ipv4(UInt32(number << 8 | $0)) }
      let is6 = all6.enumerated().allSatisfy { $1 == .ipv6(high: UInt64(number), low: UInt64($0)) }
      let counts = (0..<5).map { [[1, 2, 5, 20, 64][$0], [0, 1, 0, 8, 64][$0]] }
      return !is4 || !is6 || !counts.contains([all4.count, all6.count])
    }
    let results = await withTaskGroup(of: (read: Int, wrong: Int).self) { group in
      for reader in 0..<3 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(reader))
          var result = (read: 0, wrong: 0)
          var left = Sanitizer.volume(of: 200_000)
          while left > 0, !isDone.withLock({ $0 }) {
            left -= 1
            let number = Int.random(in: 0..<32, using: &random)
            let reading = reader == 0 ? table.read(names[number]) : table.read(spelled: spelled[number])
            guard let reading else { continue }
            var addresses = AddressList()
            table.append(.any, of: reading, prefersIPv6: false, to: &addresses)
            let alias = reading.shape.canonical4 == 0 ? nil : table.canonicalText(.any, of: reading, prefersIPv6: false)
            guard table.confirm(reading, seconds: 0) else { continue }
            result.read += 1
            if wrong(Array(addresses), number) { result.wrong += 1 }
            if let alias, alias != "alias-\(number).example.net" { result.wrong += 1 }
          }
          return result
        }
      }
      group.addTask {
        var random = SeededGenerator(seed: 77)
        var stored = Array(0..<24)
        for step in 0..<Sanitizer.volume(of: 20_000) {
          let number = Int.random(in: 0..<32, using: &random)
          if stored.contains(number) {
            if step % 3 == 0 {
              table.remove(names[number])
              stored.removeAll { $0 == number }
              continue
            }
          } else if stored.count == 24 {
            table.remove(names[stored.removeFirst()])
            stored.append(number)
          } else {
            stored.append(number)
          }
          table.store(Self.value(number, generation: step), for: names[number], lastUsed: 0)
        }
        isDone.withLock { $0 = true }
        return (0, 0)
      }
      return await group.reduce(into: (read: 0, wrong: 0)) {
        $0.read += $1.read
        $0.wrong += $1.wrong
      }
    }
    #expect(results.wrong == 0)
    #expect(results.read > 0)
  }
}
