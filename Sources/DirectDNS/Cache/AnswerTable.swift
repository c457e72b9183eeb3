// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The cache's table: names and what is known of them, read without a lock and without writing to memory that
/// others read.
///
/// A lookup must not make two threads wait for each other, and must not cost an allocation, so neither a lock nor
/// a reference count stands in its way. Records lie in memory that keeps its type for as long as the table
/// lives, and each carries a sequence number that is odd while the record is written (a seqlock): a reader copies
/// what it needs and then looks whether the number is still the one that it began with. When it is not, or when
/// a record has just moved, the reader is told `nil` and asks again under the writers' lock.
///
/// Every word is an atomic, so that a torn read is a stale number and never undefined behaviour. Writers are
/// serialised by ``AnswerCache``'s lock. 96 or 128 bytes hold most names; the index adds 4 bytes a place, so that of a
/// hundred thousand names it stays in a processor's own cache, and a lookup misses that cache once: for the record.
@safe final class AnswerTable: @unchecked Sendable {
  // Safe to share: readers touch atomics alone, and writers hold one lock.

  typealias Word = Atomic<UInt64>
  /// A place of the index: 0, or some bits of the hash, 3 bits of the size's number plus one, and the record's number.
  typealias Place = Atomic<UInt32>

  /// Where things stand in a record, in words.
  ///
  /// Lengths and kinds are packed into `shape`, the use of its addresses into `order`, and when they were last used and
  /// what had been heard of them by then into `use`.
  enum Field {
    static let sequence = 0, shape = 1, order = 2, use = 3
    static let asked4 = 4, expires4 = 5, asked6 = 6, expires6 = 7
    static let payload = 8
  }

  /// Sizes of records in words: a short name with an address or two, one with some of both families, and then each twice
  /// the one before.
  ///
  /// The last has room for whatever is known of a name: 64 addresses of each family, and three names of 253 bytes, take
  /// 264 words.
  static let sizes = [12, 16, 32, 64, 128, 256, 512]
  /// Records in a slab of every size but the first two.
  private static let slabShift = 9

  let index: UnsafeMutablePointer<Place>
  let indexMask: UInt64
  /// How many bits of a place are the record's number.
  private let numberBits: UInt32
  /// The records of the first two sizes, which nearly all are of, each in one piece: memory that is not used yet costs
  /// nothing.
  private let smallest: UnsafeMutablePointer<Word>
  private let small: UnsafeMutablePointer<Word>
  private let smallCount: Int
  /// The slabs of the third size, then those of the next.
  private let directory: UnsafeMutablePointer<Atomic<UInt>>
  private let directoryCount: Int
  /// All memory that the system gave.
  private var pieces = unsafe [UnsafeMutableRawPointer]()
  private var freed: [[UInt32]]
  private var used: [Int]
  private(set) var count = 0

  /// Creates a table for so many names; the index is as large as it will ever be.
  init(capacity: Int) {
    let places = Self.placeCount(capacity)
    indexMask = UInt64(places - 1)
    unsafe index = Self.zeros(places, &pieces)
    // One more than there are names: a record that grows has two for a moment.
    smallCount = capacity + 1
    unsafe smallest = Self.zeros(smallCount * Self.sizes[0], &pieces)
    unsafe small = Self.zeros(smallCount * Self.sizes[1], &pieces)
    directoryCount = capacity >> Self.slabShift + 2
    numberBits = UInt32(Int.bitWidth - (directoryCount << Self.slabShift).leadingZeroBitCount)
    let slabs = directoryCount * (Self.sizes.count - 2)
    unsafe directory = .allocate(capacity: slabs)
    for slab in 0..<slabs { unsafe (directory + slab).initialize(to: Atomic<UInt>(0)) }
    freed = Self.sizes.map { _ in [] }
    used = Self.sizes.map { _ in 0 }
  }

  deinit {
    unsafe directory.deinitialize(count: directoryCount * (Self.sizes.count - 2))
    unsafe directory.deallocate()
    unsafe pieces.forEach { unsafe free($0) }
  }

  /// Bytes that the table has taken from the system.
  var byteCount: Int {
    let places = (Int(indexMask) + 1) * MemoryLayout<Place>.stride
    let slabs = directoryCount * (Self.sizes.count - 2) * MemoryLayout<UInt>.stride
    return zip(Self.sizes, used).reduce(places + slabs) { $0 + $1.0 * $1.1 * MemoryLayout<Word>.stride }
  }

  // MARK: Index places

  private func place(_ hash: UInt64, size: Int, record: UInt32) -> UInt32 {
    fingerprint(hash) << (numberBits + 3) | UInt32(size + 1) << numberBits | record
  }

  /// The bits of a name's hash that a place has; the lower ones say where the search begins.
  @inline(__always)
  func fingerprint(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash &>> 32) &>> (numberBits &+ 3) }

  @inline(__always)
  func fingerprint(of place: UInt32) -> UInt32 { place &>> (numberBits &+ 3) }

  @inline(__always)
  private func size(of place: UInt32) -> Int { Int(place &>> numberBits & 7) &- 1 }

  @inline(__always)
  private func number(of place: UInt32) -> Int { Int(place & (1 &<< numberBits &- 1)) }

  /// The record that a place leads to.
  @inline(__always)
  func record(_ place: UInt32) -> UnsafeMutablePointer<Word>? {
    let size = size(of: place)
    let number = number(of: place)
    guard size > 1 else { return unsafe size == 0 ? smallest + number &* 12 : small + number &* 16 }
    let slab = (size &- 2) &* directoryCount &+ number &>> Self.slabShift
    let bits = unsafe directory[slab].load(ordering: .acquiring)
    let offset = (number & (1 &<< Self.slabShift &- 1)) &<< (size &+ 3)
    return unsafe UnsafeMutablePointer<Word>(bitPattern: bits).map { unsafe $0 + offset }
  }

  // MARK: Writing, under the caller's lock

  /// Writes what is known of a name, in place of what was known before.
  ///
  /// - Parameters:
  ///   - value: what is known; its addresses stand in the order of use.
  ///   - name: the name.
  ///   - order: how its addresses are used; by default all are equally good, for good.
  ///   - isNew: whether it is known that the table does not have the name.
  ///   - lastUsed: when the name was last used, in seconds.
  func store(
    _ value: CachedName, for name: HostName, order: RecordOrder? = nil, isNew: Bool = false, lastUsed: UInt32
  ) {
    let words = RecordWords(value, name: name, order: order, lastUsed: lastUsed)
    guard let size = Self.sizes.firstIndex(where: { $0 >= words.count }) else { return }
    let found = isNew ? nil : find(name)
    if let found, self.size(of: found.place) == size, let record = unsafe record(found.place) {
      unsafe write(words, to: record)
      return
    }
    guard let number = allocate(size: size) else { return }
    let place = place(name.hash, size: size, record: number)
    guard let record = unsafe record(place) else { return }
    unsafe write(words, to: record)
    if let found {
      unsafe index[Int(found.position)].store(place, ordering: .releasing)
      release(found.place)
    } else {
      var position = name.hash & indexMask
      while unsafe index[Int(position)].load(ordering: .relaxed) != 0 { position = (position + 1) & indexMask }
      unsafe index[Int(position)].store(place, ordering: .releasing)
      count += 1
    }
  }

  private func write(_ words: RecordWords, to record: UnsafeMutablePointer<Word>) {
    let sequence = unsafe record[Field.sequence].load(ordering: .relaxed)
    unsafe record[Field.sequence].store(sequence &+ 1, ordering: .relaxed)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    for (offset, word) in words.words.enumerated() where offset != Field.sequence {
      unsafe record[offset].store(word, ordering: .relaxed)
    }
    unsafe record[Field.sequence].store(sequence &+ 2, ordering: .releasing)
  }

  /// Removes a name.
  func remove(_ name: HostName) {
    guard let found = find(name) else { return }
    // Backward shift: the probe sequence stays without holes. A reader on its way may miss a name that is being
    // moved, and then asks again under the lock.
    var hole = found.position
    var position = hole
    while true {
      position = (position + 1) & indexMask
      let place = unsafe index[Int(position)].load(ordering: .relaxed)
      guard place != 0, let record = unsafe record(place) else { break }
      let home = unsafe hash(of: record) & indexMask
      if (position &- home) & indexMask >= (position &- hole) & indexMask {
        unsafe index[Int(hole)].store(place, ordering: .releasing)
        hole = position
      }
    }
    unsafe index[Int(hole)].store(0, ordering: .releasing)
    release(found.place)
    count -= 1
  }

  private func allocate(size: Int) -> UInt32? {
    if let number = freed[size].popLast() { return number }
    let number = used[size]
    if size < 2 {
      guard number < smallCount else { return nil }
    } else {
      let slab = number >> Self.slabShift
      guard slab < directoryCount else { return nil }
      if number & (1 << Self.slabShift - 1) == 0 {
        let memory: UnsafeMutablePointer<Word> = unsafe Self.zeros(Self.sizes[size] << Self.slabShift, &pieces)
        unsafe directory[(size - 2) * directoryCount + slab].store(UInt(bitPattern: memory), ordering: .releasing)
      }
    }
    used[size] += 1
    return UInt32(number)
  }

  private func release(_ place: UInt32) {
    guard let record = unsafe record(place) else { return }
    // Whoever still reads the record sees that it changed.
    let sequence = unsafe record[Field.sequence].load(ordering: .relaxed)
    unsafe record[Field.sequence].store(sequence &+ 2, ordering: .releasing)
    freed[size(of: place)].append(UInt32(number(of: place)))
  }

  // MARK: Reading under the caller's lock

  /// The index place of a name, or nil.
  func find(_ name: HostName) -> (position: UInt64, place: UInt32)? {
    unsafe name.text.utf8.withContiguousStorageIfAvailable { bytes in
      let key = unsafe NameBytes(bytes, isFolded: false)
      var position = name.hash & indexMask
      while true {
        let place = unsafe index[Int(position)].load(ordering: .acquiring)
        if place == 0 { return nil }
        if fingerprint(of: place) == fingerprint(name.hash), unsafe reading(record(place), key) != nil {
          return (position, place)
        }
        position = (position + 1) & indexMask
      }
    } ?? nil
  }

  private func words(of record: UnsafeMutablePointer<Word>, size: Int) -> RecordWords {
    RecordWords(words: (0..<size).map { unsafe record[$0].load(ordering: .relaxed) })
  }

  private func hash(of record: UnsafeMutablePointer<Word>) -> UInt64 {
    let count = RecordShape(unsafe record[Field.shape].load(ordering: .relaxed)).nameLength
    return NameHash.hash(count) { place in unsafe record[Field.payload + place].load(ordering: .relaxed) }
  }

  /// What is known of a name.
  func value(_ name: HostName) -> CachedName? {
    guard let found = find(name), let record = unsafe record(found.place) else { return nil }
    return unsafe words(of: record, size: Self.sizes[size(of: found.place)]).value
  }

  /// Calls `body` for the names in the table, from a place on, until it says that it has seen enough.
  func visit(from start: UInt64 = 0, _ body: (HostName, CachedName, _ lastUsed: UInt32) -> Bool) {
    for offset in 0...indexMask {
      let place = unsafe index[Int((start &+ offset) & indexMask)].load(ordering: .acquiring)
      guard place != 0, let record = unsafe record(place) else { continue }
      let words = unsafe words(of: record, size: Self.sizes[size(of: place)])
      guard body(HostName(canonical: words.name), words.value, words.lastUsed) else { return }
    }
  }
}
