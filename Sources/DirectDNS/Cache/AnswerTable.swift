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
/// serialised by ``AnswerCache``'s lock. 128 bytes hold most names; the index adds 8 bytes a place.
@safe final class AnswerTable: @unchecked Sendable {
  // Safe to share: readers touch atomics alone, and writers hold one lock.

  typealias Word = Atomic<UInt64>

  /// Where things stand in a record, in words.
  ///
  /// Lengths and kinds are packed into `shape`.
  enum Field {
    static let sequence = 0, hash = 1, shape = 2, lastUsed = 3
    static let asked4 = 4, expires4 = 5, asked6 = 6, expires6 = 7
    static let payload = 8
  }

  /// Sizes of records in words, each twice the one before; each size has its own slabs.
  static let sizes = [16, 32, 64, 128, 256]
  static let smallestShift = 4

  /// Records in a slab of each size.
  ///
  /// Nearly all are of the first one, whose single slab is reserved as a whole: memory that is not used yet
  /// costs nothing, and one large piece spares the processor's page tables.
  private let slabShifts: InlineArray<5, UInt8>

  let index: UnsafeMutablePointer<Word>
  let indexMask: UInt64
  /// The slabs of the first size, then those of the next.
  private let directory: UnsafeMutablePointer<Atomic<UInt>>
  private let directoryCount: Int
  private var freed: [[UInt32]]
  private var used: [Int]
  private(set) var count = 0

  /// Creates a table for so many names; the index is as large as it will ever be.
  init(capacity: Int) {
    var places = 16
    while places * 3 < capacity * 4 { places *= 2 }
    indexMask = UInt64(places - 1)
    unsafe index = Self.words(places)
    let wholeShift = UInt8(Int.bitWidth - max(capacity, 512).leadingZeroBitCount)
    slabShifts = [wholeShift, 9, 9, 9, 9]
    directoryCount = capacity / 512 + 2
    unsafe directory = .allocate(capacity: directoryCount * Self.sizes.count)
    for slab in 0..<directoryCount * Self.sizes.count { unsafe (directory + slab).initialize(to: Atomic<UInt>(0)) }
    freed = Self.sizes.map { _ in [] }
    used = Self.sizes.map { _ in 0 }
  }

  deinit {
    for slab in 0..<directoryCount * Self.sizes.count {
      let bits = unsafe directory[slab].load(ordering: .relaxed)
      if let words = unsafe UnsafeMutablePointer<Word>(bitPattern: bits) { unsafe Self.release(words) }
    }
    unsafe directory.deinitialize(count: directoryCount * Self.sizes.count)
    unsafe directory.deallocate()
    unsafe Self.release(index)
  }

  /// Zeroed words, of which the system only provides those that are touched.
  private static func words(_ count: Int) -> UnsafeMutablePointer<Word> {
    // As any allocation of Swift's: who has no memory left for a table cannot go on, and has nobody to tell.
    guard let memory = unsafe calloc(count, MemoryLayout<Word>.stride) else {
      preconditionFailure("no memory for \(count) words of the answer table")
    }
    // An atomic's representation is its value's, and all of these are zero.
    return unsafe memory.bindMemory(to: Word.self, capacity: count)
  }

  private static func release(_ words: UnsafeMutablePointer<Word>) { unsafe free(words) }

  /// Bytes that the table has taken from the system.
  var byteCount: Int {
    zip(Self.sizes, used).reduce((Int(indexMask) + 1 + Self.sizes.count * directoryCount) * 8) { bytes, records in
      bytes + records.0 * records.1 * 8
    }
  }

  // MARK: Reading without a lock

  /// A record as a reader found it: numbers only.
  ///
  /// Nothing of it counts before ``isIntact(_:)`` said so.
  @safe struct Reading {
    fileprivate let record: UnsafeMutablePointer<Word>
    fileprivate let sequence: UInt64
    let shape: RecordShape
    let life4: CacheLife
    let life6: CacheLife
  }

  /// Reads a name's record; nothing if there is none, or if it is being written or moved just now.
  @inline(__always)
  func read(_ name: HostName) -> Reading? {
    unsafe name.text.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe read(NameBytes(bytes, isFolded: false), hash: name.hash)
    } ?? nil
  }

  /// Reads the record of a name as people write it: upper case and one final dot do not matter.
  @inline(__always)
  func read(spelled text: String) -> Reading? {
    unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      let name = unsafe NameBytes(bytes, isFolded: true)
      return read(name, hash: name.hash)
    } ?? nil
  }

  @inline(__always)
  private func read(_ name: NameBytes, hash: UInt64) -> Reading? {
    var position = hash & indexMask
    while true {
      let place = unsafe index[Int(truncatingIfNeeded: position)].load(ordering: .acquiring)
      if place == 0 { return nil }
      if place &>> 32 == hash &>> 32, let reading = unsafe reading(record(place), name) { return reading }
      position = (position &+ 1) & indexMask
    }
  }

  @inline(__always)
  private func reading(_ record: UnsafeMutablePointer<Word>?, _ name: NameBytes) -> Reading? {
    guard let record = unsafe record else { return nil }
    let sequence = unsafe record[Field.sequence].load(ordering: .acquiring)
    let shape = RecordShape(unsafe record[Field.shape].load(ordering: .relaxed))
    // A record never changes its size, so the words that a shape leads to exist, whatever writer it is from.
    guard sequence & 1 == 0, shape.nameLength == name.count else { return nil }
    var word = 0
    while word &* 8 < name.count {
      guard unsafe record[Field.payload &+ word].load(ordering: .relaxed) == name.word(word) else { return nil }
      word &+= 1
    }
    return unsafe Reading(
      record: record, sequence: sequence, shape: shape,
      life4: CacheLife(
        askedAt: Int64(bitPattern: record[Field.asked4].load(ordering: .relaxed)),
        expireAt: Int64(bitPattern: record[Field.expires4].load(ordering: .relaxed))),
      life6: CacheLife(
        askedAt: Int64(bitPattern: record[Field.asked6].load(ordering: .relaxed)),
        expireAt: Int64(bitPattern: record[Field.expires6].load(ordering: .relaxed))))
  }

  /// Whether a record stayed as it is while it was read; notes its use if so.
  @inline(__always)
  func isIntact(_ reading: Reading, seconds: UInt32) -> Bool {
    let used = unsafe reading.record[Field.lastUsed].load(ordering: .relaxed)
    atomicMemoryFence(ordering: .acquiring)
    guard unsafe reading.record[Field.sequence].load(ordering: .relaxed) == reading.sequence else { return false }
    // Written once a second at most, so that a popular name's memory stays shared between threads.
    if used != UInt64(seconds) { unsafe reading.record[Field.lastUsed].store(UInt64(seconds), ordering: .relaxed) }
    return true
  }

  /// Adds the addresses of the wanted families, the preferred family's first, and says how many those are.
  @inline(__always)
  func append(
    _ wanted: AddressFamilies, of reading: Reading, prefersIPv6: Bool, to addresses: inout AddressList
  ) -> Int {
    let count4 = wanted.contains(AddressFamilies.ipv4) ? reading.shape.count4 : 0
    let count6 = wanted.contains(AddressFamilies.ipv6) ? reading.shape.count6 : 0
    guard count4 &+ count6 <= AddressList.inlineCapacity else {
      return appendMany(count4, count6, of: reading, prefersIPv6: prefersIPv6, to: &addresses)
    }
    if prefersIPv6 { unsafe append6(reading.record, reading.shape, count6, to: &addresses) }
    var index = 0
    while index < count4 {
      let place = Field.payload &+ reading.shape.start4 &+ index &>> 1
      let word = unsafe reading.record[place].load(ordering: .relaxed)
      let low = word &>> UInt64(truncatingIfNeeded: (index & 1) &* 32) & 0xffff_ffff
      addresses.appendInline(high: 0, low: low, isIPv6: false)
      index &+= 1
    }
    if !prefersIPv6 { unsafe append6(reading.record, reading.shape, count6, to: &addresses) }
    return prefersIPv6 && count6 > 0 || count4 == 0 ? count6 : count4
  }

  @inline(__always)
  private func append6(
    _ record: UnsafeMutablePointer<Word>, _ shape: RecordShape, _ count: Int, to addresses: inout AddressList
  ) {
    var index = 0
    while index < count {
      let place = Field.payload &+ shape.start6 &+ index &* 2
      let high = unsafe record[place].load(ordering: .relaxed)
      addresses.appendInline(high: high, low: unsafe record[place &+ 1].load(ordering: .relaxed), isIPv6: true)
      index &+= 1
    }
  }

  @inline(never)
  private func appendMany(
    _ count4: Int, _ count6: Int, of reading: Reading, prefersIPv6: Bool, to addresses: inout AddressList
  ) -> Int {
    let record = unsafe reading.record
    let shape = reading.shape
    let all4 = (0..<count4).map { index in
      let word = unsafe record[Field.payload + shape.start4 + index / 2].load(ordering: .relaxed)
      return IPAddress.ipv4(UInt32(truncatingIfNeeded: word >> UInt64(index % 2 * 32)))
    }
    let all6 = (0..<count6).map { index in
      let place = Field.payload + shape.start6 + index * 2
      return IPAddress.ipv6(
        high: unsafe record[place].load(ordering: .relaxed), low: unsafe record[place + 1].load(ordering: .relaxed))
    }
    addresses = AddressList(prefersIPv6 ? all6 + all4 : all4 + all6)
    return prefersIPv6 && count6 > 0 || count4 == 0 ? count6 : count4
  }

  /// The canonical name in a record.
  ///
  /// It costs an allocation.
  @inline(never)
  func canonicalName(of reading: Reading) -> HostName {
    let shape = reading.shape
    let is4 = shape.canonical4 != 0
    let start = Field.payload + (is4 ? shape.startCanonical4 : shape.startCanonical6)
    let bytes = (0..<(is4 ? shape.canonical4 : shape.canonical6)).map { offset in
      let word = unsafe reading.record[start + offset / 8].load(ordering: .relaxed)
      return UInt8(truncatingIfNeeded: word >> UInt64(offset % 8 * 8))
    }
    return HostName(canonical: String(decoding: bytes, as: UTF8.self))
  }

  // MARK: Index places
  // A place holds 0, or: 32 bits of the hash, 3 bits of the size's number plus one, 29 bits of the record's number.

  @inline(__always)
  static func place(_ hash: UInt64, size: Int, record: UInt32) -> UInt64 {
    hash & 0xffff_ffff_0000_0000 | UInt64(size + 1) << 29 | UInt64(record)
  }

  /// The record that a place leads to.
  @inline(__always)
  func record(_ place: UInt64) -> UnsafeMutablePointer<Word>? {
    let size = Int(truncatingIfNeeded: place &>> 29 & 7) &- 1
    let number = Int(truncatingIfNeeded: place & 0x1fff_ffff)
    let shift = Int(slabShifts[size])
    let slab = size &* directoryCount &+ number &>> shift
    let bits = unsafe directory[slab].load(ordering: .acquiring)
    let offset = (number & (1 &<< shift &- 1)) &<< (size &+ Self.smallestShift)
    return unsafe UnsafeMutablePointer<Word>(bitPattern: bits).map { unsafe $0 + offset }
  }

  /// The index place of a name, or nothing.
  ///
  /// For writers.
  func find(_ name: HostName) -> (position: UInt64, place: UInt64)? {
    unsafe name.text.utf8.withContiguousStorageIfAvailable { bytes in
      let key = unsafe NameBytes(bytes, isFolded: false)
      var position = name.hash & indexMask
      while true {
        let place = unsafe index[Int(position)].load(ordering: .acquiring)
        if place == 0 { return nil }
        if place >> 32 == name.hash >> 32, unsafe reading(record(place), key) != nil { return (position, place) }
        position = (position + 1) & indexMask
      }
    } ?? nil
  }

  // MARK: Writing, under the caller's lock

  /// Writes what is known of a name, in place of what was known before.
  func store(_ value: CachedName, for name: HostName, lastUsed: UInt32) {
    let words = RecordWords(value, name: name, lastUsed: lastUsed)
    guard let size = Self.sizes.firstIndex(where: { $0 >= words.count }) else { return }
    let found = find(name)
    if let found, Int(found.place >> 29 & 7) - 1 == size, let record = unsafe record(found.place) {
      unsafe write(words, to: record)
      return
    }
    guard let number = allocate(size: size) else { return }
    let place = Self.place(name.hash, size: size, record: number)
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
      guard place != 0 else { break }
      guard let record = unsafe record(place) else { break }
      let home = unsafe record[Field.hash].load(ordering: .relaxed) & indexMask
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
    let shift = Int(slabShifts[size])
    let slab = number >> shift
    guard slab < directoryCount else { return nil }
    if number & (1 << shift - 1) == 0 {
      let memory = unsafe Self.words(Self.sizes[size] << shift)
      unsafe directory[size * directoryCount + slab].store(UInt(bitPattern: memory), ordering: .releasing)
    }
    used[size] += 1
    return UInt32(number)
  }

  private func release(_ place: UInt64) {
    guard let record = unsafe record(place) else { return }
    // Whoever still reads the record sees that it changed.
    let sequence = unsafe record[Field.sequence].load(ordering: .relaxed)
    unsafe record[Field.sequence].store(sequence &+ 2, ordering: .releasing)
    unsafe record[Field.hash].store(0, ordering: .relaxed)
    freed[Int(place >> 29 & 7) - 1].append(UInt32(place & 0x1fff_ffff))
  }

  // MARK: Reading under the caller's lock

  private func words(of record: UnsafeMutablePointer<Word>, size: Int) -> RecordWords {
    RecordWords(words: (0..<size).map { unsafe record[$0].load(ordering: .relaxed) })
  }

  private func name(of record: UnsafeMutablePointer<Word>) -> String {
    let shape = RecordShape(unsafe record[Field.shape].load(ordering: .relaxed))
    var bytes: [UInt8] = []
    for offset in 0..<shape.nameLength {
      let word = unsafe record[Field.payload + offset / 8].load(ordering: .relaxed)
      bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(offset % 8 * 8)))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What is known of a name.
  func value(_ name: HostName) -> CachedName? {
    guard let found = find(name), let record = unsafe record(found.place) else { return nil }
    return unsafe words(of: record, size: Self.sizes[Int(found.place >> 29 & 7) - 1]).value
  }

  /// Calls `body` for the names in the table, from a place on, until it says that it has seen enough.
  func visit(from start: UInt64 = 0, _ body: (HostName, CachedName, _ lastUsed: UInt32) -> Bool) {
    for offset in 0...indexMask {
      let place = unsafe index[Int((start &+ offset) & indexMask)].load(ordering: .acquiring)
      guard place != 0, let record = unsafe record(place) else { continue }
      let words = unsafe words(of: record, size: Self.sizes[Int(place >> 29 & 7) - 1])
      guard
        body(
          HostName(canonical: unsafe name(of: record)), words.value,
          UInt32(truncatingIfNeeded: words.words[Field.lastUsed]))
      else { return }
    }
  }
}

/// A name's bytes, eight at a time.
@safe private struct NameBytes {
  let start: UnsafeRawPointer?
  let count: Int
  let isFolded: Bool

  /// - Parameters:
  ///   - bytes: the name's text.
  ///   - isFolded: whether upper case is read as lower case and a final dot is left out.
  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>, isFolded: Bool) {
    unsafe start = UnsafeRawPointer(bytes.baseAddress)
    self.isFolded = isFolded
    let hasDot = unsafe isFolded && bytes.count > 1 && bytes[bytes.count - 1] == ASCII.dot
    count = bytes.count - (hasDot ? 1 : 0)
  }

  /// The word at a place, its first byte lowest, zeros behind the end.
  @inline(__always)
  func word(_ place: Int) -> UInt64 {
    guard let start = unsafe start else { return 0 }
    let offset = place * 8
    var word: UInt64
    if offset + 8 <= count {
      word = unsafe UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    } else if count >= 8 {
      // The last eight bytes, shifted down: no byte behind the name is read.
      word = unsafe UInt64(littleEndian: start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
      word >>= UInt64(offset + 8 - count) * 8
    } else {
      word = 0
      for index in offset..<count {
        word |= unsafe UInt64(start.load(fromByteOffset: index, as: UInt8.self)) << UInt64((index - offset) * 8)
      }
    }
    return isFolded ? Self.lowercased(word) : word
  }

  /// Eight bytes at once: bit 7 of each lane says whether the byte is an upper-case letter, and moves to bit 5.
  @inline(__always)
  private static func lowercased(_ word: UInt64) -> UInt64 {
    let low = word & 0x7f7f_7f7f_7f7f_7f7f
    let aboveZ = low &+ 0x2525_2525_2525_2525  // 0x7f - 'Z'
    let fromA = low &+ 0x3f3f_3f3f_3f3f_3f3f  // 0x80 - 'A'
    let upper = ~word & (fromA ^ aboveZ) & 0x8080_8080_8080_8080
    return word | upper >> 2
  }

  @inline(__always)
  var hash: UInt64 {
    var hash = NameHash.begin(count)
    var place = 0
    while place * 8 < count {
      hash = NameHash.step(hash, word(place))
      place += 1
    }
    return NameHash.end(hash)
  }
}
