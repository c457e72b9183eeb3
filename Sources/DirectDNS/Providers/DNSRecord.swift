// SPDX-License-Identifier: Apache-2.0
/// The type of a record or of a question, such as A or AAAA (IANA "DNS Resource Record (RR) TYPEs").
public struct DNSRecordType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The type's number.
  public let rawValue: UInt16

  /// The type of that number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// An IPv4 address.
  public static let a = DNSRecordType(rawValue: 1)
  /// A server of a zone.
  public static let ns = DNSRecordType(rawValue: 2)
  /// An alias for another name.
  public static let cname = DNSRecordType(rawValue: 5)
  /// The start of a zone of authority; it carries the lifetime of negative answers.
  public static let soa = DNSRecordType(rawValue: 6)
  /// The name that an address stands for.
  public static let ptr = DNSRecordType(rawValue: 12)
  /// A server that takes a domain's mail.
  public static let mx = DNSRecordType(rawValue: 15)
  /// Text of any kind.
  public static let txt = DNSRecordType(rawValue: 16)
  /// A server that offers a service (RFC 2782).
  public static let srv = DNSRecordType(rawValue: 33)
  /// An alias for all names below another (RFC 6672).
  public static let dname = DNSRecordType(rawValue: 39)
  /// An IPv6 address.
  public static let aaaa = DNSRecordType(rawValue: 28)
  /// The EDNS pseudo record (RFC 6891).
  public static let opt = DNSRecordType(rawValue: 41)
  /// A general service binding (RFC 9460).
  public static let svcb = DNSRecordType(rawValue: 64)
  /// A service binding for https origins (RFC 9460).
  public static let https = DNSRecordType(rawValue: 65)
  /// All types of a name, or some of them (RFC 8482).
  public static let any = DNSRecordType(rawValue: 255)
  /// Which authorities may issue certificates (RFC 8659).
  public static let caa = DNSRecordType(rawValue: 257)

  /// The address type of a family.
  public init(_ family: IPAddress.Family) { self = family == .ipv4 ? .a : .aaaa }

  /// The registry's mnemonics, first those of the types above, which are met most.
  private static let mnemonics: [(name: String, number: UInt16)] = [
    ("A", 1), ("CNAME", 5), ("SOA", 6), ("AAAA", 28), ("OPT", 41), ("SVCB", 64), ("HTTPS", 65), ("NS", 2), ("PTR", 12),
    ("MX", 15), ("TXT", 16), ("SRV", 33), ("DNAME", 39), ("ANY", 255), ("CAA", 257),
    ("MD", 3), ("MF", 4), ("MB", 7), ("MG", 8), ("MR", 9), ("NULL", 10), ("WKS", 11), ("HINFO", 13), ("MINFO", 14),
    ("RP", 17), ("AFSDB", 18), ("X25", 19), ("ISDN", 20), ("RT", 21), ("NSAP", 22), ("NSAP-PTR", 23), ("SIG", 24),
    ("KEY", 25), ("PX", 26), ("GPOS", 27), ("LOC", 29), ("NXT", 30), ("EID", 31), ("NIMLOC", 32), ("ATMA", 34),
    ("NAPTR", 35), ("KX", 36), ("CERT", 37), ("A6", 38), ("SINK", 40), ("APL", 42), ("DS", 43), ("SSHFP", 44),
    ("IPSECKEY", 45), ("RRSIG", 46), ("NSEC", 47), ("DNSKEY", 48), ("DHCID", 49), ("NSEC3", 50), ("NSEC3PARAM", 51),
    ("TLSA", 52), ("SMIMEA", 53), ("HIP", 55), ("NINFO", 56), ("RKEY", 57), ("TALINK", 58), ("CDS", 59),
    ("CDNSKEY", 60), ("OPENPGPKEY", 61), ("CSYNC", 62), ("ZONEMD", 63), ("DSYNC", 66), ("HHIT", 67), ("BRID", 68),
    ("SPF", 99), ("UINFO", 100), ("UID", 101), ("GID", 102), ("UNSPEC", 103), ("NID", 104), ("L32", 105), ("L64", 106),
    ("LP", 107), ("EUI48", 108), ("EUI64", 109), ("NXNAME", 128), ("TKEY", 249), ("TSIG", 250), ("IXFR", 251),
    ("AXFR", 252), ("MAILB", 253), ("MAILA", 254), ("URI", 256), ("AVC", 258), ("DOA", 259), ("AMTRELAY", 260),
    ("RESINFO", 261), ("WALLET", 262), ("CLA", 263), ("IPN", 264), ("TA", 32768), ("DLV", 32769),
  ]

  /// The type of that mnemonic or number, in any case: `A`, `aaaa`, `65`, `TYPE65`.
  public init?(_ text: String) {
    let upper = text.uppercased()
    if let known = Self.mnemonics.first(where: { $0.name == upper }) {
      self.init(rawValue: known.number)
    } else if case let digits = upper.hasPrefix("TYPE") ? upper.dropFirst(4) : upper[...],
      digits.utf8.allSatisfy(ASCII.isDigit), let number = UInt16(digits)
    {
      self.init(rawValue: number)
    } else {
      return nil
    }
  }

  /// Whether records of this type can be asked for: not OPT, nor a meta type or QTYPE (RFC 6895 §3.1) except ANY.
  public var isQueryable: Bool {
    rawValue != 0 && self != .opt && !(128..<255).contains(rawValue)
  }

  /// The mnemonic, or `TYPE` and the number (RFC 3597).
  public var description: String {
    Self.mnemonics.first { $0.number == rawValue }?.name ?? "TYPE\(rawValue)"
  }
}

/// What is asked: a name and a type, in class IN unless it says otherwise.
public struct DNSQuestion: Hashable, Sendable, CustomStringConvertible {
  /// The name asked for.
  public var name: DNSName
  /// The type asked for.
  public var type: DNSRecordType
  /// The class; 1 is the Internet's.
  public var recordClass: UInt16

  /// The Internet's class, IN: the one that every name is looked up in.
  static let internetClass: UInt16 = 1

  /// Creates a question.
  public init(name: DNSName, type: DNSRecordType, recordClass: UInt16 = 1) {
    self.name = name
    self.type = type
    self.recordClass = recordClass
  }

  /// The name and the type, and the class if it is not IN (RFC 3597 §5).
  public var description: String {
    recordClass == Self.internetClass ? "\(name) \(type)" : "\(name) CLASS\(recordClass) \(type)"
  }
}

/// One resource record (RFC 1035 §3.2.1).
public struct DNSRecord: Hashable, Sendable, CustomStringConvertible {
  /// What a record says; of any other class than IN, it is opaque.
  public typealias Data = RecordData

  /// The name that the record belongs to.
  public var owner: DNSName
  /// The record's type.
  public var type: DNSRecordType
  /// The class; 1 is the Internet's.
  public var recordClass: UInt16
  /// The lifetime in seconds; in a message any number, see ``lifetime``.
  public var ttl: UInt32
  /// What the record says.
  public var data: Data

  /// Creates a record.
  public init(
    owner: DNSName, type: DNSRecordType, recordClass: UInt16 = 1, ttl: UInt32, data: Data
  ) {
    self.owner = owner
    self.type = type
    self.recordClass = recordClass
    self.ttl = ttl
    self.data = data
  }

  /// Seven days in seconds: no record lives longer, whatever it says (RFC 8767 §4).
  static let lifetimeLimit: UInt32 = 7 * 86_400

  /// The lifetime in seconds, at most seven days.
  ///
  /// A TTL with its high bit set counts as a large one (RFC 8767 §4).
  public var lifetime: UInt32 { min(ttl, Self.lifetimeLimit) }

  /// The record as a line of a zone file (RFC 1035 §5.1), its class by number if it is not IN (RFC 3597 §5).
  public var description: String {
    "\(owner) \(ttl) \(isInternet ? "IN" : "CLASS\(recordClass)") \(type) \(data)"
  }
}
