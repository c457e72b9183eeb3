// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The memory of a table: as much as it may ever need, of which only what is used costs something.
extension AnswerTable {
  /// Whether this process may have the memory of a table for so many names.
  ///
  /// What is not used costs nothing, but there are limits to what may be asked for (`ulimit -v`, `vm.overcommit_memory`).
  static func fits(capacity: Int) -> Bool {
    let words = (capacity + 1) * (sizes[0] + sizes[1])
    let size = placeCount(capacity) * MemoryLayout<Place>.stride + words * MemoryLayout<Word>.stride
    // Not by `malloc`: to free a large piece changes how glibc takes the next ones from the system.
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

  /// Zeroed memory, of which the system only provides what is touched; it begins with a line of the processor's cache.
  static func zeros<Value: ~Copyable>(
    _ count: Int, _ pieces: inout [UnsafeMutableRawPointer]
  ) -> UnsafeMutablePointer<Value> {
    // It was there a moment ago, where `fits` was asked: as with any allocation of Swift's, nobody is left to be told.
    guard let piece = unsafe calloc(count * MemoryLayout<Value>.stride + cacheLine, 1) else {
      preconditionFailure("no memory for \(count) words of the answer table")
    }
    unsafe pieces.append(piece)
    // An atomic's representation is its value's, and all of these are zero.
    return unsafe piece.alignedUp(toMultipleOf: cacheLine).bindMemory(to: Value.self, capacity: count)
  }

  private static let cacheLine = 64
}
