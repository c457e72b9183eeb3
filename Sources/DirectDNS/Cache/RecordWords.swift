// SPDX-License-Identifier: Apache-2.0
/// The second word of a record, which packs lengths, kinds and sources.
struct RecordShape: Sendable, Hashable {
  var bits: UInt64

  @inline(__always)
  init(_ bits: UInt64 = 0) { self.bits = bits }

  @inline(__always)
  private func field(_ shift: UInt64, _ width: UInt64) -> Int {
    Int(truncatingIfNeeded: bits &>> shift & (1 &<< width &- 1))
  }

  private mutating func set(_ value: Int, _ shift: UInt64, _ width: UInt64) {
    bits = bits & ~((1 << width - 1) << shift) | UInt64(value) << shift
  }

  /// The length of the name in bytes.
  @inline(__always)
  var nameLength: Int {
    get { field(0, 8) }
    set { set(newValue, 0, 8) }
  }
  /// The length of each family's canonical name in bytes; 0 without one.
  @inline(__always)
  var canonical4: Int {
    get { field(8, 8) }
    set { set(newValue, 8, 8) }
  }
  @inline(__always)
  var canonical6: Int {
    get { field(16, 8) }
    set { set(newValue, 16, 8) }
  }
  /// The number of each family's addresses.
  @inline(__always)
  var count4: Int {
    get { field(24, 7) }
    set { set(newValue, 24, 7) }
  }
  @inline(__always)
  var count6: Int {
    get { field(31, 7) }
    set { set(newValue, 31, 7) }
  }
  @inline(__always)
  var kind4: FamilyView.Kind {
    get { FamilyView.Kind(rawValue: UInt8(truncatingIfNeeded: bits >> 38 & 7)) }
    set { set(Int(newValue.rawValue), 38, 3) }
  }
  @inline(__always)
  var kind6: FamilyView.Kind {
    get { FamilyView.Kind(rawValue: UInt8(truncatingIfNeeded: bits >> 41 & 7)) }
    set { set(Int(newValue.rawValue), 41, 3) }
  }
  @inline(__always)
  var source4: Int {
    get { field(44, 8) }
    set { set(newValue, 44, 8) }
  }
  @inline(__always)
  var source6: Int {
    get { field(52, 8) }
    set { set(newValue, 52, 8) }
  }
  var isKeptAlive: Bool {
    get { field(60, 1) != 0 }
    set { set(newValue ? 1 : 0, 60, 1) }
  }

  // Where the parts of the payload begin, in words behind the header.
  @inline(__always)
  var start4: Int { (nameLength + 7) / 8 }
  @inline(__always)
  var start6: Int { start4 + (count4 + 1) / 2 }
  var startCanonical4: Int { start6 + count6 * 2 }
  var startCanonical6: Int { startCanonical4 + (canonical4 + 7) / 8 }
  var payloadCount: Int { startCanonical6 + (canonical6 == Self.sameCanonical ? 0 : (canonical6 + 7) / 8) }

  /// Stands in place of the length if both families have the same canonical name; no name is that long.
  static let sameCanonical = 255
}

/// A record of the table as words: the one place that converts between words and values.
struct RecordWords: Sendable, Hashable {
  private typealias Field = AnswerTable.Field

  private(set) var words: [UInt64]

  var count: Int { words.count }

  init(words: [UInt64]) { self.words = words }

  /// Makes the words of a name's record; without an order, all addresses are equally good.
  init(_ value: CachedName, name: HostName, order: RecordOrder? = nil, lastUsed: UInt32) {
    let entry4 = value.ipv4.entry
    let entry6 = value.ipv6.entry
    let addresses4 = Self.addresses(entry4)
    let addresses6 = Self.addresses(entry6)
    let isSame = entry6?.canonicalName != nil && entry6?.canonicalName == entry4?.canonicalName
    var shape = RecordShape()
    shape.nameLength = name.text.utf8.count
    shape.canonical4 = entry4?.canonicalName?.text.utf8.count ?? 0
    shape.canonical6 = isSame ? RecordShape.sameCanonical : entry6?.canonicalName?.text.utf8.count ?? 0
    shape.count4 = addresses4.count
    shape.count6 = addresses6.count
    shape.kind4 = Self.kind(value.ipv4)
    shape.kind6 = Self.kind(value.ipv6)
    shape.source4 = Int(entry4?.source ?? 0)
    shape.source6 = Int(entry6?.source ?? 0)
    shape.isKeptAlive = value.isKeptAlive

    let order = order ?? RecordOrder(equals4: addresses4.count, equals6: addresses6.count, changesAt: nil, revision: 0)
    words = []
    words.reserveCapacity(Field.payload + shape.payloadCount)
    words.append(0)
    words.append(shape.bits)
    words.append(RecordOrder.Bits(order).bits)
    words.append(RecordUse(seconds: lastUsed, revision: order.revision).bits)
    append(Self.life(value.ipv4))
    append(Self.life(value.ipv6))
    append(name.text)
    for index in stride(from: 0, to: addresses4.count, by: 2) {
      let second = index + 1 < addresses4.count ? addresses4[index + 1].low : 0
      words.append(addresses4[index].low | second << 32)
    }
    for address in addresses6 { words += [address.high, address.low] }
    append(entry4?.canonicalName?.text ?? "")
    if !isSame { append(entry6?.canonicalName?.text ?? "") }
  }

  private static func addresses(_ entry: CacheEntry?) -> [IPAddress] {
    if case .addresses(let addresses) = entry?.content { Array(addresses.prefix(Answer.addressLimit)) } else { [] }
  }

  private static func kind(_ slot: CachedName.Slot) -> FamilyView.Kind {
    switch slot {
    case .neverAsked: .neverAsked
    case .unknown, .failed: .unknown
    case .notKept: .notKept
    case .entry(let entry):
      switch entry.content {
      case .addresses: .addresses
      case .negative(.nameNotFound): .nameNotFound
      case .negative(.noAddress): .noAddress
      }
    }
  }

  /// The two instants of a family: where nothing is known, the second one says when it is to be asked for again.
  private static func life(_ slot: CachedName.Slot) -> CacheLife {
    switch slot {
    case .neverAsked: CacheLife(askedAt: 0, expireAt: 0)
    case .unknown, .notKept: CacheLife(askedAt: 0, expireAt: CacheLife.never)
    case .failed(let until): CacheLife(askedAt: 0, expireAt: until)
    case .entry(let entry): entry.life
    }
  }

  private mutating func append(_ life: CacheLife) {
    words.append(UInt64(bitPattern: life.askedAt))
    words.append(UInt64(bitPattern: life.expireAt))
  }

  private mutating func append(_ text: String) {
    let bytes = text.utf8.span
    for start in stride(from: 0, to: bytes.count, by: 8) {
      var word: UInt64 = 0
      for index in (start..<min(start + 8, bytes.count)).reversed() { word = word << 8 | UInt64(bytes[index]) }
      words.append(word)
    }
  }

  private func text(at start: Int, length: Int) -> String {
    String(
      decoding: (0..<length).map { offset in
        UInt8(truncatingIfNeeded: words[Field.payload + start + offset / 8] >> UInt64(offset % 8 * 8))
      }, as: UTF8.self)
  }

  private var shape: RecordShape { RecordShape(words[Field.shape]) }

  var name: String { text(at: 0, length: shape.nameLength) }
  var lastUsed: UInt32 { RecordUse(bits: words[Field.use]).seconds }
  var ipv4: FamilyView { FamilyView(kind: shape.kind4, life: life(at: Field.asked4)) }
  var ipv6: FamilyView { FamilyView(kind: shape.kind6, life: life(at: Field.asked6)) }

  /// Whether its name is less than another's; behind a text's end the bytes are zero.
  func isNamedBefore(_ other: RecordWords) -> Bool {
    nameWords.lexicographicallyPrecedes(other.nameWords) { $0.byteSwapped < $1.byteSwapped }
  }

  private var nameWords: ArraySlice<UInt64> { words[Field.payload..<Field.payload + shape.start4] }

  private func life(at asked: Int) -> CacheLife {
    CacheLife(askedAt: Int64(bitPattern: words[asked]), expireAt: Int64(bitPattern: words[asked + 1]))
  }

  /// The value that the words stand for.
  var value: CachedName {
    let shape = shape
    let name4 =
      shape.canonical4 == 0 ? nil : HostName(canonical: text(at: shape.startCanonical4, length: shape.canonical4))
    let name6 =
      switch shape.canonical6 {
      case 0: HostName?.none
      case RecordShape.sameCanonical: name4
      default: HostName(canonical: text(at: shape.startCanonical6, length: shape.canonical6))
      }
    let addresses4 = (0..<shape.count4).map { index in
      IPAddress.ipv4(
        UInt32(truncatingIfNeeded: words[Field.payload + shape.start4 + index / 2] >> UInt64(index % 2 * 32)))
    }
    let addresses6 = (0..<shape.count6).map { index in
      IPAddress.ipv6(
        high: words[Field.payload + shape.start6 + index * 2], low: words[Field.payload + shape.start6 + index * 2 + 1])
    }
    return CachedName(
      ipv4: slot(shape.kind4, addresses4, name4, shape.source4, Field.asked4),
      ipv6: slot(shape.kind6, addresses6, name6, shape.source6, Field.asked6), isKeptAlive: shape.isKeptAlive)
  }

  private func slot(
    _ kind: FamilyView.Kind, _ addresses: [IPAddress], _ canonicalName: HostName?, _ source: Int, _ asked: Int
  ) -> CachedName.Slot {
    let content: Answer.Content
    let life = life(at: asked)
    switch kind {
    case .neverAsked: return .neverAsked
    case .unknown: return life.expireAt == CacheLife.never ? .unknown : .failed(until: life.expireAt)
    case .notKept: return .notKept
    case .addresses: content = .addresses(addresses)
    case .nameNotFound: content = .negative(.nameNotFound)
    default: content = .negative(.noAddress)
    }
    return .entry(CacheEntry(content: content, canonicalName: canonicalName, source: UInt16(source), life: life))
  }
}
