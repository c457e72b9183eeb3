// SPDX-License-Identifier: Apache-2.0
extension DNSMessage {
  /// Reads a message.
  ///
  /// Work is bounded by the message's length: a compression pointer must point to before the name that it is in, so
  /// loops end at once, and counts that promise more than the bytes hold fail at the first missing byte.
  ///
  /// Malformed data of a record is kept as it came, since most records of a reply do not belong to the answer; the code
  /// that reads the answer checks those that do. Without exactly one question, it is an error in the answer section.
  ///
  /// - Parameter bytes: the whole message.
  /// - Throws: what is wrong with the bytes; also if there are bytes after the last record.
  public init(decoding bytes: [UInt8]) throws(DNSMessageError) {
    var reader = DNSMessageReader(bytes: bytes)
    let id = try reader.uint16()
    let flags = try reader.uint16()
    let questionCount = try reader.uint16()
    let counts = (try reader.uint16(), try reader.uint16(), try reader.uint16())
    var questions: [DNSQuestion] = []
    for _ in 0..<questionCount {
      let name = try reader.name()
      let type = DNSRecordType(rawValue: try reader.uint16())
      questions.append(DNSQuestion(name: name, type: type, recordClass: try reader.uint16()))
    }
    let answers = try reader.records(counts.0, isStrict: questions.count != 1)
    let authorities = try reader.records(counts.1)
    var additionals = try reader.records(counts.2)
    guard reader.offset == bytes.count else { throw reader.error("bytes behind the last record") }

    self.init(
      id: id, isResponse: flags & 0x8000 != 0, opcode: UInt8(flags >> 11 & 0xf),
      isAuthoritative: flags & 0x0400 != 0, isTruncated: flags & 0x0200 != 0,
      recursionDesired: flags & 0x0100 != 0, recursionAvailable: flags & 0x0080 != 0,
      responseCode: ResponseCode(rawValue: flags & 0xf), questions: questions, answers: answers,
      authorities: authorities)
    // RFC 6891 §6.1.1: one OPT record at most, and it belongs to the root.
    if let index = additionals.firstIndex(where: { $0.type == .opt }) {
      let opt = additionals.remove(at: index)
      guard opt.owner == .root, !additionals.contains(where: { $0.type == .opt }) else {
        throw reader.error("a second OPT record, or one with a name")
      }
      edns = EDNS(payloadSize: opt.recordClass, options: try reader.options(opt))
      responseCode = ResponseCode(rawValue: UInt16(opt.ttl >> 24) << 4 | flags & 0xf)
    }
    self.additionals = additionals
  }
}

/// A place in a message's bytes, moved forward by reading.
struct DNSMessageReader {
  /// A name that was read.
  private struct Known {
    var offset: Int
    var name: DNSName
    /// How many compression pointers led through it.
    var pointers: Int
  }

  let bytes: [UInt8]
  var offset = 0
  /// The question's name, and the last name that was read in full: nearly all others are only pointers to one of them.
  private var first: Known?
  private var last: Known?

  init(bytes: [UInt8]) { self.bytes = bytes }

  func error(_ what: String) -> DNSMessageError { DNSMessageError(what, at: offset) }

  mutating func uint16() throws(DNSMessageError) -> UInt16 {
    guard offset + 2 <= bytes.count else { throw error("the message ends early") }
    defer { offset += 2 }
    return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
  }

  mutating func uint32() throws(DNSMessageError) -> UInt32 {
    UInt32(try uint16()) << 16 | UInt32(try uint16())
  }

  /// Reads a name, following compression pointers (RFC 1035 §4.1.4).
  mutating func name() throws(DNSMessageError) -> DNSName {
    if let name = try knownName() { return name }
    let start = offset
    var wire: [UInt8] = []
    wire.reserveCapacity(64)
    var position = offset
    var end: Int?
    var limit = offset  // where the part being read began: a pointer must point to before it
    var pointers = 0
    while true {
      guard position < bytes.count else { throw error("a name runs past the end") }
      let length = Int(bytes[position])
      switch length >> 6 {
      case 0:
        guard position + 1 + length <= bytes.count else { throw error("a label runs past the end") }
        guard wire.count + 1 + length <= 255 else { throw error("a name of more than 255 bytes") }
        wire.append(UInt8(length))
        for index in (position + 1)..<(position + 1 + length) { wire.append(ASCII.lowercased(bytes[index])) }
        position += 1 + length
        if length == 0 {
          offset = end ?? position
          last = Known(offset: start, name: DNSName(wire: wire), pointers: pointers)
          if first == nil { first = last }
          return DNSName(wire: wire)
        }
      case 3:
        guard position + 2 <= bytes.count else { throw error("a compression pointer is cut") }
        let target = (length & 0x3f) << 8 | Int(bytes[position + 1])
        guard target < limit else { throw error("a compression pointer that does not point back") }
        // A name has at most 127 labels, and needs no more pointers than that: a chain of thousands, used by thousands
        // of records, would cost a second for one reply.
        pointers += 1
        guard pointers <= Self.pointerLimit else { throw tooManyPointers }
        if end == nil { end = position + 2 }
        limit = target
        position = target
      default:
        throw error("a label of unknown type \(length >> 6)")
      }
    }
  }

  private static let pointerLimit = 127
  private var tooManyPointers: DNSMessageError {
    error("a name of more than \(Self.pointerLimit) compression pointers")
  }

  /// The root, or a name that is only a pointer to a known one, which is not built again; nil for any other.
  private mutating func knownName() throws(DNSMessageError) -> DNSName? {
    guard offset < bytes.count else { return nil }
    if bytes[offset] == 0 {
      offset += 1
      return .root
    }
    guard bytes[offset] >= 0xc0, offset + 2 <= bytes.count else { return nil }
    let target = Int(bytes[offset] & 0x3f) << 8 | Int(bytes[offset + 1])
    guard let known = first?.offset == target ? first : last?.offset == target ? last : nil else { return nil }
    guard known.pointers < Self.pointerLimit else { throw tooManyPointers }
    offset += 2
    return known.name
  }

  mutating func records(_ count: UInt16, isStrict: Bool = false) throws(DNSMessageError) -> [DNSRecord] {
    var records: [DNSRecord] = []
    // A count may promise more than the bytes hold.
    records.reserveCapacity(Int(min(count, 8)))
    for _ in 0..<count { records.append(try record(isStrict: isStrict)) }
    return records
  }

  private mutating func record(isStrict: Bool) throws(DNSMessageError) -> DNSRecord {
    let owner = try name()
    let type = DNSRecordType(rawValue: try uint16())
    let recordClass = try uint16()
    let ttl = try uint32()
    let length = Int(try uint16())
    let end = offset + length
    guard end <= bytes.count else { throw error("a record's data runs past the end") }
    // The data of a type is defined for one class (RFC 1035 §3.4, RFC 3597 §4). The "class" of an OPT record is a size;
    // its data stays as it came either way.
    guard recordClass == DNSQuestion.internetClass else {
      defer { offset = end }
      return DNSRecord(
        owner: owner, type: type, recordClass: recordClass, ttl: ttl, data: .opaque(Array(bytes[offset..<end])))
    }
    let data = recordData(of: type, until: end)
    if isStrict, case .opaque = data, RecordData.isKnown(type) {
      throw error("a \(type) record whose data is malformed, which ends")
    }
    return DNSRecord(owner: owner, type: type, recordClass: recordClass, ttl: ttl, data: data)
  }

  mutating func serviceBinding(until end: Int) throws(DNSMessageError) -> ServiceBinding {
    var binding = ServiceBinding(priority: try uint16(), target: try name())
    var last: UInt16?
    while offset < end {
      let key = try uint16()
      let length = Int(try uint16())
      guard offset + length <= end else { throw error("a service parameter runs past its record") }
      // RFC 9460 §2.2: keys in ascending order, each once; anything else is malformed.
      if let last, key <= last { throw error("service parameters out of order") }
      last = key
      binding.parameters[key] = Array(bytes[offset..<(offset + length)])
      offset += length
    }
    return binding
  }

  func options(_ record: DNSRecord) throws(DNSMessageError) -> [DNSMessage.EDNS.Option] {
    guard case .opaque(let data) = record.data else { return [] }
    var reader = DNSMessageReader(bytes: data)
    var options: [DNSMessage.EDNS.Option] = []
    while reader.offset < data.count {
      let code = try reader.uint16()
      let length = Int(try reader.uint16())
      guard reader.offset + length <= data.count else { throw error("an EDNS option runs past its record") }
      options.append(.init(code: code, data: Array(data[reader.offset..<(reader.offset + length)])))
      reader.offset += length
    }
    return options
  }
}
