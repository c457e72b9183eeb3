// SPDX-License-Identifier: Apache-2.0
/// Reads the form of response that nearly all queries get, in place.
///
/// It has the question, addresses of the name itself, and at most an empty OPT record. The answer is the one that
/// ``DNSMessage`` gives, which is not built for it; it reads all other responses.
enum AddressReply {
  /// The answer that a response's bytes hold; nil if they are to be read as a whole message.
  static func answer(from bytes: [UInt8], to question: AddressQuestion, freshness: HTTPFreshness) -> Answer? {
    let bytes = bytes.span
    guard bytes.count >= 12, number(bytes, 0) == 0, bytes[2] & 0xfa == 0x80, bytes[3] & 0x0f == 0,
      number(bytes, 4) == 1, number(bytes, 8) == 0, number(bytes, 10) <= 1,
      var place = endOfName(question.host.text.utf8.span, in: bytes), place + 4 <= bytes.count,
      number(bytes, place) == question.type.rawValue, number(bytes, place + 2) == DNSQuestion.internetClass
    else { return nil }
    place += 4

    let count = number(bytes, 6)
    let length = question.family == .ipv4 ? 4 : 16
    var ttl = UInt32.max
    var addresses: [IPAddress] = []
    addresses.reserveCapacity(Int(min(count, UInt16(Answer.addressLimit))))
    for _ in 0..<count {
      // A pointer to the question's name, then the type and the class that were asked for.
      guard place + 12 + length <= bytes.count, number(bytes, place) == 0xc00c,
        number(bytes, place + 2) == question.type.rawValue, number(bytes, place + 4) == DNSQuestion.internetClass,
        Int(number(bytes, place + 10)) == length
      else { return nil }
      ttl = min(ttl, UInt32(number(bytes, place + 6)) << 16 | UInt32(number(bytes, place + 8)))
      let address = address(bytes.extracting(place + 12..<place + 12 + length))
      addresses.keep(address)
      place += 12 + length
    }
    if number(bytes, 10) == 1 {
      // The root, OPT, any size, no bits of an extended RCODE, no options.
      guard place + 11 <= bytes.count, bytes[place] == 0, number(bytes, place + 1) == DNSRecordType.opt.rawValue,
        bytes[place + 5] == 0, number(bytes, place + 9) == 0
      else { return nil }
      place += 11
    }
    guard place == bytes.count, !addresses.isEmpty else { return nil }
    return Answer(.addresses(addresses), ttl: freshness.ttl(min(ttl, DNSRecord.lifetimeLimit)))
  }

  private static func number(_ bytes: Span<UInt8>, _ place: Int) -> UInt16 {
    UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
  }

  private static func address(_ bytes: Span<UInt8>) -> IPAddress {
    func word(_ start: Int) -> UInt64 {
      var word: UInt64 = 0
      for index in start..<start + 8 { word = word << 8 | UInt64(bytes[index]) }
      return word
    }
    guard bytes.count == 16 else {
      return .ipv4(UInt32(number(bytes, 0)) << 16 | UInt32(number(bytes, 2)))
    }
    return .ipv6(high: word(0), low: word(8))
  }

  /// Where the question's name ends, if it is that host's, without compression.
  private static func endOfName(_ host: Span<UInt8>, in bytes: Span<UInt8>) -> Int? {
    let first = 13
    guard first + host.count < bytes.count, bytes[first + host.count] == 0 else { return nil }
    // Where the next label's length is; the host's text has a dot there.
    var next = -1
    for index in -1..<host.count {
      let byte = bytes[first + index]
      if index == next {
        guard index < 0 || host[index] == ASCII.dot else { return nil }
        next += 1 + Int(byte)
      } else {
        guard ASCII.lowercased(byte) == host[index], byte != ASCII.dot else { return nil }
      }
    }
    return next == host.count ? first + host.count + 1 : nil
  }
}
