// SPDX-License-Identifier: Apache-2.0
/// Records that were looked up, and how far they can be relied on.
public struct RecordResolution: Sendable, Hashable {
  /// The type that was asked for.
  public var type: DNSRecordType
  /// The records, each with the lifetime that it has left.
  ///
  /// Never empty.
  public var records: [DNSRecord]
  /// The end of the CNAME chain; nil if the name is no alias.
  public var canonicalName: DNSName?
  /// Where the answer stands in its life: always fresh, except for addresses, which may come from the cache.
  public var freshness: Resolution.Freshness
  /// The time since the answer was asked for.
  public var age: Duration
  /// Where the answer came from.
  public var source: Resolution.Source
  /// Whether the provider says that it has validated the answer by DNSSEC; nil for addresses, since the cache does not
  /// keep it.
  public var isAuthenticated: Bool?

  /// Creates one from its parts, for a test.
  ///
  /// - Parameters:
  ///   - type: the type that was asked for.
  ///   - records: the records, one at least.
  ///   - canonicalName: the end of the CNAME chain; default nil.
  ///   - freshness: where the answer stands in its life; default fresh.
  ///   - age: the time since it was asked for; default zero.
  ///   - source: where it came from.
  ///   - isAuthenticated: whether the provider has validated it; default nil.
  public init(
    type: DNSRecordType, records: [DNSRecord], canonicalName: DNSName? = nil,
    freshness: Resolution.Freshness = .fresh, age: Duration = .zero, source: Resolution.Source,
    isAuthenticated: Bool? = nil
  ) {
    self.type = type
    self.records = records
    self.canonicalName = canonicalName
    self.freshness = freshness
    self.age = age
    self.source = source
    self.isAuthenticated = isAuthenticated
  }

  /// Takes over a provider's answer.
  ///
  /// - Throws: `nameNotFound` or `noRecord` for a negative one.
  init(_ answer: RecordAnswer, to question: DNSQuestion, from provider: String) throws(DirectDNSError) {
    guard !answer.isNameMissing else {
      throw DirectDNSError(.nameNotFound, "\(question.name.shown) does not exist. Check its spelling.")
    }
    guard !answer.records.isEmpty else { throw DirectDNSError(noRecord: question.type, of: question.name) }
    self.init(
      type: question.type, records: answer.records, canonicalName: answer.canonicalName, source: .provider(provider),
      isAuthenticated: answer.isAuthenticated)
  }

  /// Takes over the addresses of one family; those that do not expire, such as pins, get the TTL 0.
  init(_ resolution: Resolution, of host: HostName, _ type: DNSRecordType) {
    let owner = DNSName(resolution.canonicalName ?? host)
    let ttl = UInt32(clamping: resolution.timeToLive?.components.seconds ?? 0)
    self.init(
      type: type,
      records: resolution.addresses.map { DNSRecord(owner: owner, type: type, ttl: ttl, data: .address($0)) },
      canonicalName: resolution.canonicalName.map(DNSName.init), freshness: resolution.freshness, age: resolution.age,
      source: resolution.source)
  }
}

extension DirectDNSError {
  /// The error for a name that exists, and has no record of that type.
  init(noRecord type: DNSRecordType, of name: DNSName) {
    self.init(.noRecord, "\(name.shown) exists and has no \(type) record.")
  }
}
