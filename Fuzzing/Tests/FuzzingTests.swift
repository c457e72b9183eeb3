// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

/// What `make fuzz` begins with and what it has ever found, once: a fault that was mended stays mended.
@Suite("Fuzzing", .timeLimit(.minutes(1)))
struct FuzzingTests {
  private static let seeds = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Seeds")

  private static func files(_ folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { !$0.lastPathComponent.hasPrefix(".") }.sorted { $0.path < $1.path }
  }

  @Test(arguments: FuzzTarget.all.map(\.name))
  func `every seed keeps the rules of its target`(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let files = try Self.files(Self.seeds.appending(path: name))
    #expect(!files.isEmpty)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      do throws(BrokenRule) {
        try target.check(bytes)
      } catch {
        Issue.record("\(name)/\(file.lastPathComponent): \(error)")
      }
    }
  }

  /// What bytes do that are cut, doubled and flipped, without a fuzzer's guidance: enough to see a rule that is wrong itself.
  @Test(arguments: FuzzTarget.all.map(\.name))
  func `seeds that were changed a little keep them too`(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    var random = SeededGenerator(seed: 1)
    for file in try Self.files(Self.seeds.appending(path: name)) {
      let seed = [UInt8](try Data(contentsOf: file))
      for _ in 0..<40 where !seed.isEmpty {
        var input = seed
        let place = Int(random.next() % UInt64(input.count))
        switch random.next() % 4 {
        case 0: input[place] ^= UInt8(1 << (random.next() % 8))
        case 1: input.removeSubrange(place...)
        case 2: input.insert(contentsOf: input[place...].prefix(16), at: place)
        default: input[place] = UInt8(truncatingIfNeeded: random.next())
        }
        do throws(BrokenRule) { try target.check(input) } catch { Issue.record("\(name): \(error): \(input)") }
      }
    }
  }

  /// A fuzzer's inputs are short: what goes as deep as they are long, or takes the square of it, is seen in long ones alone.
  @Test(arguments: FuzzTarget.all.map(\.name))
  func `a piece of a seed a thousand times over neither ends the process nor takes for ever`(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    var random = SeededGenerator(seed: 2)
    for file in try Self.files(Self.seeds.appending(path: name)) {
      let seed = [UInt8](try Data(contentsOf: file))
      for _ in 0..<2 where !seed.isEmpty {
        let start = Int(random.next() % UInt64(seed.count))
        let piece = seed[start...].prefix(1 + Int(random.next() % 4))
        let repeated = Array(repeatElement(piece, count: Self.longInput / piece.count).joined())
        let input = seed[..<start] + repeated + seed[piece.endIndex...]
        do throws(BrokenRule) {
          try target.check(Array(input))
        } catch {
          Issue.record("\(name)/\(file.lastPathComponent), \(Array(piece)) at \(start): \(error)")
        }
      }
    }
  }

  /// Bytes: as many as a head may have, and a quarter of what a provider's reply may.
  private static let longInput = 16 * 1024

  @Test func `every folder of seeds has a target, and no two targets one name`() throws {
    let names = FuzzTarget.all.map(\.name)
    #expect(try Self.files(Self.seeds).map(\.lastPathComponent) == names.sorted())
    #expect(Set(names).count == names.count)
  }

  @Test func `a rule that does not hold is told`() {
    let broken = FuzzTarget("broken") { bytes throws(BrokenRule) in try require(bytes.isEmpty, "there is a byte") }
    #expect(throws: Never.self) { try broken.check([]) }
    #expect { try broken.check([1]) } throws: { "\($0)" == "there is a byte" }
  }
}
