// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct NumberTableTests {
  @Test func `a number is sorted and hashed as the integer is, and keeps its value where it is of another kind`() {
    let numbers: [Number<String>] = [3, 1, 2]
    #expect(numbers.sorted().map(\.rawValue) == [1, 2, 3])
    #expect(numbers.map(\.hashValue) == [3, 1, 2].map(\.hashValue))
    #expect(Number<Int>(sameAs: numbers[0]) == 3)
  }

  @Test func `a value is found under its number alone, until it is taken out`() {
    var table = NumberTable<String, String>()
    table[1] = "a"
    table[17] = "b"  // the same place
    #expect(table[1] == "a" && table[17] == "b" && table[33] == nil && table[2] == nil)
    #expect(table.count == 2 && !table.isEmpty)
    #expect(table.removeValue(forKey: 1) == "a" && table.removeValue(forKey: 1) == nil)
    #expect(table[1] == nil && table[17] == "b" && table.count == 1)
    table[17] = nil
    #expect(table[17] == nil && table.isEmpty)
  }

  @Test func `a value is changed where it is, and one that is not there stays so`() {
    var table = NumberTable<[Int], [Int]>()
    table[5] = [1]
    table[5]?.append(2)
    table[6]?.append(2)
    #expect(table[5] == [1, 2] && table[6] == nil && table.count == 1)
  }

  @Test(arguments: [[1, 17, 2, 33], [33, 2, 17, 1], [17, 1, 33, 2], [2, 33, 1, 17]])
  func `a value that lies elsewhere, since its place was taken, is found when others have gone`(_ gone: [Int]) {
    var table = NumberTable<Int, Int>()
    // 17 and 33 have the place of 1, and 2 finds 17 in its own.
    for number in [1, 17, 2, 33] { table[Number(rawValue: number)] = number }
    for (index, number) in gone.enumerated() {
      #expect(table.removeValue(forKey: Number(rawValue: number)) == number)
      let left = gone.dropFirst(index + 1)
      #expect(left.allSatisfy { table[Number(rawValue: $0)] == $0 } && table.count == left.count)
    }
    // As empty as before: the next ones lie at their own places.
    for number in 5...9 { table[Number(rawValue: number)] = number }
    #expect(table.all.map(\.value) == [5, 6, 7, 8, 9] && table.removeValue(forKey: 5) == 5 && table[6] == 6)
  }

  @Test func `it holds what a dictionary holds, however numbers come and go`() {
    var table = NumberTable<Int, Int>()
    var dictionary: [Number<Int>: Int] = [:]
    var random = SeededGenerator(seed: 1)
    for number in 1...20_000 {
      // Mostly one after another, and some from far away that want the same places.
      let key = Number<Int>(rawValue: Int.random(in: 0..<10, using: &random) == 0 ? number * 64 : number)
      table[key] = number
      dictionary[key] = number
      while dictionary.count > 300 || (!dictionary.isEmpty && Int.random(in: 0..<3, using: &random) == 0) {
        guard let gone = dictionary.keys.min(by: { ($0.rawValue * 7) & 1023 < ($1.rawValue * 7) & 1023 }) else { break }
        #expect(table.removeValue(forKey: gone) == dictionary.removeValue(forKey: gone))
      }
      if number % 500 == 0 {
        #expect(table.all.map(\.number) == dictionary.keys.sorted())
        #expect(dictionary.allSatisfy { table[$0.key] == $0.value } && table.count == dictionary.count)
      }
    }
  }
}
