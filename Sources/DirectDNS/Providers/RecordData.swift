// SPDX-License-Identifier: Apache-2.0
/// What a record says, as far as its type is known here (RFC 1035 §3.3 and the types' own RFCs).
///
/// Data whose bytes are not what its type wants is kept as it came, and so is that of types that are not known.
public enum RecordData: Hashable, Sendable {
  /// The start of a zone of authority (RFC 1035 §3.3.13).
  public struct Authority: Hashable, Sendable {
    /// The zone's primary server.
    public var primary: DNSName
    /// The mailbox of who is responsible, its `@` as a dot.
    public var mailbox: DNSName
    /// The zone's version.
    public var serial: UInt32
    /// Seconds after which a secondary looks for another version.
    public var refresh: UInt32
    /// Seconds after which it tries again.
    public var retry: UInt32
    /// Seconds after which it gives the zone up.
    public var expire: UInt32
    /// Seconds that a negative answer lives at most (RFC 2308 §4).
    public var minimum: UInt32

    /// Creates an SOA's data.
    public init(
      primary: DNSName, mailbox: DNSName, serial: UInt32, refresh: UInt32, retry: UInt32, expire: UInt32,
      minimum: UInt32
    ) {
      self.primary = primary
      self.mailbox = mailbox
      self.serial = serial
      self.refresh = refresh
      self.retry = retry
      self.expire = expire
      self.minimum = minimum
    }
  }

  /// A and AAAA.
  case address(IPAddress)
  /// CNAME, DNAME, NS and PTR: a name.
  case name(DNSName)
  /// MX: who takes mail; the smaller preference first.
  case mailExchange(preference: UInt16, exchange: DNSName)
  /// TXT: one string or more, of any bytes.
  case text([[UInt8]])
  /// SRV: who offers a service (RFC 2782).
  case service(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
  /// SOA.
  case authority(Authority)
  /// SVCB and HTTPS (RFC 9460).
  case binding(ServiceBinding)
  /// CAA: which authority may issue certificates (RFC 8659).
  case certificationAuthority(flags: UInt8, tag: String, value: [UInt8])
  /// The bytes as they came: of a type that is not known here, or malformed.
  case opaque([UInt8])
  /// The text as it came, of a type that is not known here, from a provider that answers in JSON.
  case presentation(String)
}

/// One resource record, with all of its data.
public struct ResourceRecord: Hashable, Sendable, CustomStringConvertible {
  /// The name that the record belongs to.
  public var owner: DNSName
  /// The record's type.
  public var type: DNSRecordType
  /// The lifetime in seconds.
  public var ttl: UInt32
  /// What the record says.
  public var data: RecordData

  /// Creates a record.
  public init(owner: DNSName, type: DNSRecordType, ttl: UInt32, data: RecordData) {
    self.owner = owner
    self.type = type
    self.ttl = ttl
    self.data = data
  }

  /// The record as a line of a zone's file (RFC 1035 §5.1).
  public var description: String { "\(owner) \(ttl) IN \(type) \(data)" }
}
