// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The memory of a table: all that it may ever need is reserved, and only what is used costs something.
extension AnswerTable {
  /// Whether this process can reserve the memory of a table for so many names.
  ///
  /// Unused memory costs nothing, but there may be limits to what can be reserved (`ulimit -v`,
  /// `vm.overcommit_memory`).
  static func fits(capacity: Int) -> Bool {
    let words = (capacity + 1) * (sizes[0] + sizes[1])
    let size = placeCount(capacity) * MemoryLayout<Place>.stride + words * MemoryLayout<Word>.stride
    // Not by `malloc`: after freeing a large block, glibc takes the next ones from the system in another way.
    guard let piece = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      unsafe piece != MAP_FAILED
    else { return false }
    return unsafe munmap(piece, size) == 0
  }

  static func placeCount(_ capacity: Int) -> Int {
    var places = 16
    while places * 3 < capacity * 4 { places *= 2 }
    return places
  }

  /// Zeroed memory, aligned to a cache line; the system only provides the pages that are touched.
  static func zeros<Value: ~Copyable>(
    _ count: Int, _ pieces: inout [UnsafeMutableRawPointer]
  ) -> UnsafeMutablePointer<Value> {
    // `fits` has succeeded before; like any failed allocation in Swift, this ends the process.
    guard let piece = unsafe calloc(count * MemoryLayout<Value>.stride + cacheLine, 1) else {
      preconditionFailure("no memory for \(count) words of the answer table")
    }
    unsafe pieces.append(piece)
    // An atomic has the representation of its value, which is zero.
    return unsafe piece.alignedUp(toMultipleOf: cacheLine).bindMemory(to: Value.self, capacity: count)
  }

  private static let cacheLine = 64
}
