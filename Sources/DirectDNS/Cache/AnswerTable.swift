// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The table of the cache, which is read without a lock and without writing to memory that other threads read.
///
/// A lookup must neither make threads wait for each other nor allocate, so it takes no lock and changes no reference
/// count. Each record has a sequence number, which is odd while the record is being written (a seqlock). A reader
/// copies what it needs, and then checks whether the number is still the same. If it is not, or if the record has just
/// been moved, the reader gets nil, and asks again under the writers' lock. A record's memory is never used for
/// anything else.
///
/// Every word is an atomic, so that a torn read gives an outdated number and never undefined behaviour. Writers are
/// serialised by the lock of ``AnswerCache``. Most records have 96 or 128 bytes. The index has 4 bytes per place, so
/// that for a hundred thousand names it fits into a processor's cache: a lookup misses that cache only once, for the
/// record.
@safe final class AnswerTable: @unchecked Sendable {
  // Safe to share: readers only read atomics, and writers hold a lock.

  typealias Word = Atomic<UInt64>
  /// An entry of the index: 0 if it is free; otherwise some bits of the hash, the number of the record's size plus one
  /// in 3 bits, and the record's number.
  typealias Place = Atomic<UInt32>

  /// The layout of a record, in words.
  ///
  /// `shape` packs lengths and kinds (``RecordShape``), `order` the order of the addresses (``RecordOrder/Bits``), and
  /// `use` when the record was last used and the revision of its order (``RecordUse``).
  enum Field {
    static let sequence = 0, shape = 1, order = 2, use = 3
    static let asked4 = 4, expires4 = 5, asked6 = 6, expires6 = 7
    static let payload = 8
  }

  /// The sizes of records in words: for a short name with an address or two, for one with some of both families, and
  /// then each twice the one before.
  ///
  /// The largest possible record, with 64 addresses of each family and three names of 253 bytes, has 264 words.
  static let sizes = [smallestSize, smallSize] + (firstSlabBits...9).map { 1 << $0 }
  private static let smallestSize = 12, smallSize = 16
  /// The size of the records in the first kind of slab, as a power of two.
  private static let firstSlabBits = 5
  /// The number of records in a slab, as a power of two; the first two sizes have no slabs.
  private static let slabShift = 9

  let index: UnsafeMutablePointer<Place>
  let indexMask: UInt64
  /// How many bits of an index entry are the record's number.
  private let numberBits: UInt32
  /// The records of the first two sizes, which nearly all records have; each size is one block, of which unused parts
  /// cost nothing.
  private let smallest: UnsafeMutablePointer<Word>
  private let small: UnsafeMutablePointer<Word>
  private let smallCount: Int
  /// The addresses of the slabs: those of the third size, then those of the next, and so on.
  private let directory: UnsafeMutablePointer<Atomic<UInt>>
  private let directoryCount: Int
  /// All blocks of memory, to be freed at the end.
  private var pieces = unsafe [UnsafeMutableRawPointer]()
  private var freed: [[UInt32]]
  private var used: [Int]
  private(set) var count = 0

  /// Creates a table for so many names; the index never grows.
  init(capacity: Int) {
    let places = Self.placeCount(capacity)
    indexMask = UInt64(places - 1)
    unsafe index = Self.zeros(places, &pieces)
    // One more than names: while a record grows, its name has two for a moment.
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

  // MARK: Index entries

  private func place(_ hash: UInt64, size: Int, record: UInt32) -> UInt32 {
    fingerprint(hash) << (numberBits + 3) | UInt32(size + 1) << numberBits | record
  }

  /// The bits of a name's hash that an index entry has; the lowest bits of the hash say where a search begins.
  @inline(__always)
  func fingerprint(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash &>> 32) &>> (numberBits &+ 3) }

  @inline(__always)
  func fingerprint(of place: UInt32) -> UInt32 { place &>> (numberBits &+ 3) }

  @inline(__always)
  func size(of place: UInt32) -> Int { Int(place &>> numberBits & 7) &- 1 }

  @inline(__always)
  private func number(of place: UInt32) -> Int { Int(place & (1 &<< numberBits &- 1)) }

  /// The record that an index entry refers to.
  @inline(__always)
  func record(_ place: UInt32) -> UnsafeMutablePointer<Word>? {
    let size = size(of: place)
    let number = number(of: place)
    guard size > 1 else {
      return unsafe size == 0 ? smallest + number &* Self.smallestSize : small + number &* Self.smallSize
    }
    let slab = (size &- 2) &* directoryCount &+ number &>> Self.slabShift
    let bits = unsafe directory[slab].load(ordering: .acquiring)
    let offset = (number & (1 &<< Self.slabShift &- 1)) &<< (size &- 2 &+ Self.firstSlabBits)
    return unsafe UnsafeMutablePointer<Word>(bitPattern: bits).map { unsafe $0 + offset }
  }

  // MARK: Writing, under the caller's lock

  /// Writes a name's record, and replaces the one before.
  ///
  /// - Parameters:
  ///   - value: what is known about the name, with the addresses in the order of use.
  ///   - name: the name.
  ///   - order: the order of its addresses; by default all are equally good, and stay so.
  ///   - isNew: whether it is known that the table does not have the name yet.
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
    // Entries behind it are moved back, so that searches find no hole. A reader may miss a name that is being moved,
    // and then asks again under the lock.
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
    // A reader that is still reading the record sees that it has changed.
    let sequence = unsafe record[Field.sequence].load(ordering: .relaxed)
    unsafe record[Field.sequence].store(sequence &+ 2, ordering: .releasing)
    freed[size(of: place)].append(UInt32(number(of: place)))
  }
}
