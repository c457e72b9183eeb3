// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

extension RecordTable {
  /// The table's answer to one question.
  public struct Lookup: Hashable, Sendable {
    /// The outcome.
    public var responseCode: DNSMessage.ResponseCode
    /// The CNAME chain in its order, then the records of the type that was asked for.
    public var answers: [DNSRecord]
    /// The SOA of a negative answer, or nil.
    public var authorities: [DNSRecord]

    /// Creates an outcome.
    public init(
      responseCode: DNSMessage.ResponseCode = .noError, answers: [DNSRecord] = [],
      authorities: [DNSRecord] = []
    ) {
      self.responseCode = responseCode
      self.answers = answers
      self.authorities = authorities
    }

    /// The addresses among the answers, in order.
    public var addresses: [IPAddress] {
      answers.compactMap { if case .address(let address) = $0.data { address } else { nil } }
    }

    /// The smallest TTL of the answer section; for a negative answer the smaller number of its SOA.
    public var lifetime: UInt32? {
      if let ttl = answers.map(\.ttl).min() { return ttl }
      guard let soa = authorities.first, case .startOfAuthority(let zone) = soa.data else {
        return nil
      }
      return Swift.min(soa.ttl, zone.minimum)
    }
  }

  /// Answers a question as a recursive server does, with the whole CNAME chain.
  ///
  /// A chain ends after 16 aliases, so that a loop gives a long answer without addresses at its end.
  ///
  /// - Parameters:
  ///   - name: the name asked for.
  ///   - type: the type asked for.
  /// - Returns: the response code, the answer section and the authority section.
  public func lookup(_ name: DNSName, _ type: DNSRecordType) -> Lookup { lookup(DNSQuestion(name: name, type: type)) }

  /// Answers a question; a class other than IN is refused, as by resolvers.
  func lookup(_ question: DNSQuestion) -> Lookup {
    let (name, type) = (question.name, question.type)
    var lookup = Lookup()
    guard question.recordClass == 1 else {
      lookup.responseCode = .refused
      return lookup
    }
    var owner = name
    while true {
      guard let entry = entry(owner, type) else {
        lookup.responseCode = .nameError
        lookup.authorities = soa(of: owner, negative)
        return lookup
      }
      let found = entry.records.filter { $0.type == type }
      if !found.isEmpty {
        lookup.answers += found
        return lookup
      }
      if entry.responseCode == .noError, let alias = entry.records.first(where: { $0.type == .cname }),
        case .name(let target) = alias.data
      {
        guard lookup.answers.count < Self.longestChain else { return lookup }
        lookup.answers.append(alias)
        owner = target
        continue
      }
      lookup.responseCode = entry.responseCode
      lookup.authorities = soa(of: owner, entry.authority ?? negative)
      return lookup
    }
  }

  /// The most aliases of an answer.
  private static let longestChain = 16

  private func entry(_ name: DNSName, _ type: DNSRecordType) -> Entry? {
    if let entry = entries[name] { return entry }
    let text = name.text
    for generator in generators.reversed() {
      if let records = generator(text, type) { return Entry(records: records) }
    }
    return nil
  }

  private func soa(of name: DNSName, _ authority: Authority?) -> [DNSRecord] {
    guard let authority else { return [] }
    // The name's parent is used as the zone, as for a name directly below a registered domain.
    let zone = DNSName(name.labels.dropFirst().map { String(decoding: $0, as: UTF8.self) + "." }.joined())
    return [
      DNSRecord(
        owner: zone ?? .root, type: .soa, ttl: authority.ttl,
        data: .startOfAuthority(
          RecordData.Authority(
            primary: RecordTable.name("ns.directdns.test"),
            mailbox: RecordTable.name("hostmaster.ns.directdns.test"), serial: 1, refresh: 7200, retry: 900,
            expire: 1_209_600, minimum: authority.minimum)))
    ]
  }
}

extension DNSName {
  /// The presentation form without its final dot.
  var text: String { String(description.dropLast()) }
}
