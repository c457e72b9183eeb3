// SPDX-License-Identifier: Apache-2.0
/// Makes an answer from records: follows the CNAME chain from the question's name, and ignores all other records.
///
/// A reply may hold records that nobody asked for, by mistake or to poison a cache: a record counts only if it
/// belongs to the chain. Messages and JSON share this.
enum AnswerSection {
  static func answer(
    to question: DNSQuestion, responseCode: DNSMessage.ResponseCode, flags: ResponseFlags = ResponseFlags(),
    answers: [some AnswerRecord], authorities: [DNSRecord], freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    try responseCode.checkIsAnswer()
    let chain = try AnswerChain(to: question, among: answers)
    let canonicalName = chain.links > 0 ? chain.end.hostName : nil
    var ttl = chain.lifetime
    guard responseCode == .noError else {
      let lifetime = negativeLifetime(of: chain.end, authorities).map { freshness.lifetime(min($0, ttl)) }
      return Answer(.negative(.nameNotFound), ttl: lifetime, canonicalName: canonicalName)
    }
    var addresses: [IPAddress] = []
    for record in answers where chain.holds(record) {
      if addresses.isEmpty { addresses.reserveCapacity(min(answers.count, Answer.addressLimit)) }
      addresses.keep(try record.address)
      ttl = min(ttl, try record.lifetime)
    }
    guard addresses.isEmpty else {
      return Answer(.addresses(addresses), ttl: freshness.ttl(ttl), canonicalName: canonicalName)
    }
    try chain.checkIsNegative(answers, flags: flags, authority: authorities.lazy.filter(\.isInternet).map(\.type))
    let lifetime = negativeLifetime(of: chain.end, authorities).map { freshness.lifetime(min($0, ttl)) }
    return Answer(.negative(.noAddress), ttl: lifetime, canonicalName: canonicalName)
  }

  /// min(SOA TTL, SOA MINIMUM), by the SOA of a zone that the name lies in (RFC 2308 §5).
  private static func negativeLifetime(of name: DNSName, _ authorities: [DNSRecord]) -> UInt32? {
    for record in authorities where record.type == .soa && name.isWithin(record.owner) && record.isInternet {
      if case .startOfAuthority(let zone) = record.data {
        return min(record.lifetime, zone.minimum, DNSRecord.lifetimeLimit)
      }
    }
    return nil
  }
}

extension DNSMessage.ResponseCode {
  /// Checks that a response with this code says something about the name: any other is the next server's turn.
  ///
  /// - Parameter explanation: what the server says of a failure, to follow the code.
  /// - Throws: the failure to answer that it is.
  func checkIsAnswer(_ explanation: @autoclosure () -> String = "") throws(ProviderFailure) {
    guard self == .noError || self == .nameError else {
      throw ProviderFailure(.response, "answered \(self)\(explanation())")
    }
  }
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
