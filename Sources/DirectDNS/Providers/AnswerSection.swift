// SPDX-License-Identifier: Apache-2.0
/// Makes an answer from records: follows the CNAME chain from the question's name, and ignores all other records.
///
/// A reply may hold records that nobody asked for, by mistake or to poison a cache: a record counts only if it
/// belongs to the chain. Messages and JSON share this.
enum AnswerSection {
  /// The longest chain that is followed.
  static let chainLimit = 16

  static func answer(
    to question: DNSQuestion, responseCode: DNSMessage.ResponseCode, flags: ResponseFlags = ResponseFlags(),
    answers: [DNSRecord], authorities: [DNSRecord], freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    guard responseCode == .noError || responseCode == .nameError else {
      throw ProviderFailure(.response, "answered \(responseCode)")
    }
    var name = question.name
    var ttl = UInt32.max
    var links = 0
    var addresses: [IPAddress] = []
    while true {
      for record in answers where record.type == question.type && record.owner == name && record.isInternet {
        guard case .address(let address) = record.data else { throw .malformed(record) }
        ttl = min(ttl, record.lifetime)
        if addresses.isEmpty { addresses.reserveCapacity(min(answers.count, Answer.addressLimit)) }
        if addresses.count < Answer.addressLimit, !addresses.contains(address) { addresses.append(address) }
      }
      guard addresses.isEmpty else { break }
      guard let (target, lifetime) = try alias(of: name, in: answers) else { break }
      links += 1
      guard links <= chainLimit else { throw .endlessChain }
      ttl = min(ttl, lifetime)
      name = target
    }
    let canonicalName = links > 0 ? name.hostName : nil
    guard responseCode == .noError, !addresses.isEmpty else {
      if responseCode == .noError {
        guard !answers.contains(where: { $0.type == question.type }) else { throw .foreignRecords(question.type) }
        try flags.checkIsAnswer(authority: authorities.lazy.filter(\.isInternet).map(\.type), aliases: links)
      }
      let negative: Answer.Negative = responseCode == .nameError ? .nameNotFound : .noAddress
      let lifetime = negativeLifetime(of: name, authorities).map { freshness.lifetime(min($0, ttl)) }
      return Answer(.negative(negative), ttl: lifetime, canonicalName: canonicalName)
    }
    return Answer(.addresses(addresses), ttl: freshness.lifetime(ttl), canonicalName: canonicalName)
  }

  private static func alias(
    of name: DNSName, in records: [DNSRecord]
  ) throws(ProviderFailure) -> (target: DNSName, ttl: UInt32)? {
    for record in records where record.type == .cname && record.owner == name && record.isInternet {
      guard case .canonicalName(let target) = record.data else { throw .malformed(record) }
      return (target, record.lifetime)
    }
    return nil
  }

  /// min(SOA TTL, SOA MINIMUM), by the SOA of a zone that the name lies in (RFC 2308 §5).
  private static func negativeLifetime(of name: DNSName, _ authorities: [DNSRecord]) -> UInt32? {
    for record in authorities where record.type == .soa && name.isWithin(record.owner) && record.isInternet {
      if case .startOfAuthority(_, _, let minimum) = record.data {
        return min(record.lifetime, minimum, DNSRecord.lifetimeLimit)
      }
    }
    return nil
  }
}

extension ProviderFailure {
  /// A fault of those who published the names, not of the endpoint: three such names must not open its breaker.
  static let endlessChain = ProviderFailure(
    .response, "a CNAME chain of more than \(AnswerSection.chainLimit) links, or a loop")

  /// The answer section has records of the type, and none that belongs to the question's name: NODATA has no record of
  /// the type (RFC 2308 §2.2), and taken for it, such a response would replace a known answer.
  static func foreignRecords(_ type: DNSRecordType) -> ProviderFailure {
    ProviderFailure(.response, "answered with \(type) records of other names or classes alone")
  }

  /// The data of a record that belongs to the answer is malformed.
  ///
  /// Anybody may publish an alias for what this library cannot read as a name; an address is written by the endpoint.
  fileprivate static func malformed(_ record: DNSRecord) -> ProviderFailure {
    ProviderFailure(
      record.type == .cname ? .response : .transport, "the data of a \(record.type) record of the answer is malformed")
  }
}

extension DNSRecord {
  fileprivate var isInternet: Bool { recordClass == DNSQuestion.internetClass }
}

extension DNSName {
  /// Whether the name is `zone` or lies below it.
  func isWithin(_ zone: DNSName) -> Bool {
    var index = 0
    while index < wire.count {
      if wire.count - index == zone.wire.count { return wire[index...].elementsEqual(zone.wire) }
      index += 1 + Int(wire[index])
    }
    return false
  }
}

/// What a response's header says about the server that sent it.
struct ResponseFlags: Sendable, Hashable {
  /// It is an authority for the name that was asked for (AA).
  var isAuthoritative = false
  /// It offers recursion (RA).
  var recursionAvailable = true

  /// Checks that a NOERROR response without a matching record is a negative answer, and not a referral.
  ///
  /// One that names a zone's servers is a referral (RFC 2308 §2.2). A server without recursion knows only its own
  /// zones, and not the target of an alias. Taken for a negative answer, such a response would replace a known answer.
  ///
  /// - Parameters:
  ///   - authority: the types of the authority section's records.
  ///   - aliases: how many aliases were followed.
  /// - Throws: that it is a referral.
  func checkIsAnswer(authority: some Sequence<DNSRecordType>, aliases: Int) throws(ProviderFailure) {
    var isReferral = !recursionAvailable && (!isAuthoritative || aliases > 0)
    for type in authority {
      if type == .soa { return }
      if type == .ns { isReferral = true }
    }
    guard !isReferral else {
      throw ProviderFailure(.response, "answered by a referral: it does not look this name up for others")
    }
  }
}
