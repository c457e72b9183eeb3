// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Reading without a lock.
extension AnswerTable {
  /// A record's numbers, as a reader has copied them.
  ///
  /// They must not be relied on before ``AnswerTable/confirm(_:seconds:)`` has returned true.
  @safe struct Reading {
    fileprivate let record: UnsafeMutablePointer<Word>
    fileprivate let sequence: UInt64
    fileprivate let use: RecordUse
    let shape: RecordShape
    let order: RecordOrder.Bits
    let life4: CacheLife
    let life6: CacheLife
  }

  /// Reads a name's record; nil if there is none, or if it is being written or moved at the moment.
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
    let fingerprint = fingerprint(hash)
    while true {
      let place = unsafe index[Int(truncatingIfNeeded: position)].load(ordering: .acquiring)
      if place == 0 { return nil }
      if self.fingerprint(of: place) == fingerprint, let reading = unsafe reading(record(place), name) {
        return reading
      }
      position = (position &+ 1) & indexMask
    }
  }

  @inline(__always)
  func reading(_ record: UnsafeMutablePointer<Word>?, _ name: NameBytes) -> Reading? {
    guard let record = unsafe record else { return nil }
    let sequence = unsafe record[Field.sequence].load(ordering: .acquiring)
    let shape = RecordShape(unsafe record[Field.shape].load(ordering: .relaxed))
    // A record never changes its size, so even with a torn read all words exist that the shape refers to.
    guard sequence & 1 == 0, shape.nameLength == name.count else { return nil }
    var word = 0
    while word &* 8 < name.count {
      guard unsafe record[Field.payload &+ word].load(ordering: .relaxed) == name.word(word) else { return nil }
      word &+= 1
    }
    return unsafe Reading(
      record: record, sequence: sequence, use: RecordUse(bits: record[Field.use].load(ordering: .relaxed)),
      shape: shape, order: RecordOrder.Bits(record[Field.order].load(ordering: .relaxed)),
      life4: CacheLife(
        askedAt: Int64(bitPattern: record[Field.asked4].load(ordering: .relaxed)),
        expireAt: Int64(bitPattern: record[Field.expires4].load(ordering: .relaxed))),
      life6: CacheLife(
        askedAt: Int64(bitPattern: record[Field.asked6].load(ordering: .relaxed)),
        expireAt: Int64(bitPattern: record[Field.expires6].load(ordering: .relaxed))))
  }

  /// Confirms a reading: notes that the record was used, if it has not changed since it was read.
  ///
  /// - Returns: whether it has not changed.
  @inline(__always)
  func confirm(_ reading: Reading, seconds: UInt32) -> Bool {
    atomicMemoryFence(ordering: .acquiring)
    guard unsafe reading.record[Field.sequence].load(ordering: .relaxed) == reading.sequence else { return false }
    // Written at most once a second, so that threads can share the cache line of a popular name.
    if reading.use.seconds != seconds { noteUse(reading, seconds) }
    return true
  }

  @inline(never)
  private func noteUse(_ reading: Reading, _ seconds: UInt32) {
    var use = reading.use
    use.seconds = seconds
    // Fails if the record was written meanwhile, so that the writer's revision is not overwritten.
    _ = unsafe reading.record[Field.use].compareExchange(
      expected: reading.use.bits, desired: use.bits, ordering: .relaxed)
  }

  /// Whether the order of the addresses is still right: nothing was reported since, no failed one may be used again, and
  /// no connect time has become too old.
  @inline(__always)
  func isInOrder(_ reading: Reading, _ ranking: AddressRanking, at now: ResolverInstant) -> Bool {
    guard reading.shape.count4 &+ reading.shape.count6 > 1 else { return true }
    guard now.nanoseconds < reading.order.changesAt else { return false }
    var revision: UInt32 = 0
    var index = 0
    while index < reading.shape.count4 {
      revision &+= ranking.revision(high: 0, low: address4(index, of: reading))
      index &+= 1
    }
    index = 0
    while index < reading.shape.count6 {
      let (high, low) = address6(index, of: reading)
      revision &+= ranking.revision(high: high, low: low)
      index &+= 1
    }
    return revision == reading.use.revision
  }

  @inline(__always)
  private func address4(_ index: Int, of reading: Reading) -> UInt64 {
    let place = Field.payload &+ reading.shape.start4 &+ index &>> 1
    let word = unsafe reading.record[place].load(ordering: .relaxed)
    return word &>> UInt64(truncatingIfNeeded: (index & 1) &* 32) & 0xffff_ffff
  }

  @inline(__always)
  private func address6(_ index: Int, of reading: Reading) -> (high: UInt64, low: UInt64) {
    let place = Field.payload &+ reading.shape.start6 &+ index &* 2
    return unsafe (
      reading.record[place].load(ordering: .relaxed), reading.record[place &+ 1].load(ordering: .relaxed)
    )
  }

  /// Appends the addresses of the wanted families, the preferred one first unless it goes behind the other.
  ///
  /// - Parameters:
  ///   - wanted: the families.
  ///   - reading: the record.
  ///   - prefersIPv6: whether IPv6 is the preferred family.
  ///   - turn: which of the equally good addresses come first.
  ///   - addresses: an empty list.
  @inline(__always)
  func append(
    _ wanted: AddressFamilies, of reading: Reading, prefersIPv6: Bool, turn: AddressOrder.Turn = .first,
    to addresses: inout AddressList
  ) {
    let count4 = wanted.contains(AddressFamilies.ipv4) ? reading.shape.count4 : 0
    let count6 = wanted.contains(AddressFamilies.ipv6) ? reading.shape.count6 : 0
    // With one family alone it does not matter.
    let isFirst6 = reading.order.isBehind4 || prefersIPv6 && !reading.order.isBehind6
    guard AddressList.fitsInline(ipv4: count4, ipv6: count6) else {
      return appendMany(count4, count6, of: reading, isFirst6: isFirst6, turn, to: &addresses)
    }
    if isFirst6 { append6(count6, of: reading, turn, to: &addresses) }
    var index = 0
    while index < count4 {
      let low = address4(turn.place(index, of: reading.order.equals4), of: reading)
      addresses.appendInline(ipv4: UInt32(truncatingIfNeeded: low))
      index &+= 1
    }
    if !isFirst6 { append6(count6, of: reading, turn, to: &addresses) }
  }

  @inline(__always)
  private func append6(
    _ count: Int, of reading: Reading, _ turn: AddressOrder.Turn, to addresses: inout AddressList
  ) {
    var index = 0
    while index < count {
      let (high, low) = address6(turn.place(index, of: reading.order.equals6), of: reading)
      addresses.appendInline(high: high, low: low)
      index &+= 1
    }
  }

  @inline(never)
  private func appendMany(
    _ count4: Int, _ count6: Int, of reading: Reading, isFirst6: Bool, _ turn: AddressOrder.Turn,
    to addresses: inout AddressList
  ) {
    let all4 = (0..<count4).map { index in
      let low = address4(turn.place(index, of: reading.order.equals4), of: reading)
      return IPAddress.ipv4(UInt32(truncatingIfNeeded: low))
    }
    let all6 = (0..<count6).map { index in
      let (high, low) = address6(turn.place(index, of: reading.order.equals6), of: reading)
      return IPAddress.ipv6(high: high, low: low)
    }
    addresses = AddressList(isFirst6 ? all6 + all4 : all4 + all6)
  }

  /// The canonical name in a record, that of the preferred family if it has one.
  ///
  /// It costs an allocation. If the record changes meanwhile, it may be any text.
  @inline(never)
  func canonicalText(_ families: AddressFamilies, of reading: Reading, prefersIPv6: Bool) -> String? {
    let text4 = families.contains(.ipv4) ? canonicalText4(of: reading) : nil
    guard families.contains(.ipv6), prefersIPv6 || text4 == nil else { return text4 }
    return canonicalText6(of: reading) ?? text4
  }

  private func canonicalText4(of reading: Reading) -> String? {
    let shape = reading.shape
    return shape.canonical4 == 0 ? nil : text(of: reading, at: shape.startCanonical4, length: shape.canonical4)
  }

  private func canonicalText6(of reading: Reading) -> String? {
    let shape = reading.shape
    guard shape.canonical6 != RecordShape.sameCanonical else { return canonicalText4(of: reading) }
    return shape.canonical6 == 0 ? nil : text(of: reading, at: shape.startCanonical6, length: shape.canonical6)
  }

  /// The name in a record; only to be called under the writers' lock.
  func name(of reading: Reading) -> HostName {
    HostName(canonical: text(of: reading, at: 0, length: reading.shape.nameLength))
  }

  private func text(of reading: Reading, at start: Int, length: Int) -> String {
    unsafe String(unsafeUninitializedCapacity: length) { bytes in
      var word: UInt64 = 0
      for offset in 0..<length {
        if offset % 8 == 0 {
          word = unsafe reading.record[Field.payload + start + offset / 8].load(ordering: .relaxed)
        }
        unsafe bytes.initializeElement(at: offset, to: UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
      return length
    }
  }
}
