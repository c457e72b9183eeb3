// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The records of a fake server, and its answers about names without any.
///
/// ```swift
/// var table = RecordTable()
/// table.add("www.example.test", "192.0.2.1", "2001:db8::1", ttl: 60)
/// table.alias("shop.example.test", to: "www.example.test", ttl: 20)
/// table.fail("broken.example.test", .serverFailure)
/// ```
///
/// A name that the table does not contain is not found (NXDOMAIN); a name that it contains has no record of the types
/// that are not listed (NODATA). Both answers carry ``negative`` as their SOA. An invalid name or address is a mistake
/// in the test and ends the process with a message.
public struct RecordTable: Sendable {
  /// The SOA in a negative answer.
  ///
  /// The answer's lifetime is the smaller of its two numbers.
  public struct Authority: Hashable, Sendable {
    /// The SOA record's own TTL in seconds.
    public var ttl: UInt32
    /// The SOA's MINIMUM field in seconds.
    public var minimum: UInt32

    /// Creates an authority.
    public init(ttl: UInt32 = 60, minimum: UInt32 = 60) {
      self.ttl = ttl
      self.minimum = minimum
    }
  }

  /// The entry of a name: a response code, records, or both.
  struct Entry: Sendable {
    var records: [DNSRecord] = []
    var responseCode = DNSMessage.ResponseCode.noError
    /// The entry's own authority; the outer nil means the table's.
    var authority: Authority??
  }

  /// The SOA of negative answers without one of their own; nil for answers without an SOA.
  public var negative: Authority? = Authority()

  var entries: [DNSName: Entry] = [:]
  var generators: [@Sendable (String, DNSRecordType) -> [DNSRecord]?] = []

  /// Creates an empty table: every name is not found.
  public init() {}

  /// Creates a table and fills it.
  public init(_ fill: (inout RecordTable) -> Void) {
    self.init()
    fill(&self)
  }

  /// Adds addresses to a name: A records for IPv4, AAAA records for IPv6.
  ///
  /// - Parameters:
  ///   - name: the owner.
  ///   - addresses: addresses in their text form.
  ///   - ttl: the records' lifetime in seconds, 300 by default.
  public mutating func add(_ name: String, _ addresses: String..., ttl: UInt32 = 300) {
    add(name, addresses.map(Self.address), ttl: ttl)
  }

  /// Adds addresses to a name.
  public mutating func add(_ name: String, _ addresses: [IPAddress], ttl: UInt32 = 300) {
    let owner = Self.name(name)
    for address in addresses {
      add(DNSRecord(owner: owner, type: DNSRecordType(address.family), ttl: ttl, data: .address(address)))
    }
  }

  /// Makes a name an alias (CNAME) of another; chains and loops are possible.
  public mutating func alias(_ name: String, to target: String, ttl: UInt32 = 300) {
    add(
      DNSRecord(
        owner: Self.name(name), type: .cname, ttl: ttl, data: .name(Self.name(target))))
  }

  /// Adds an HTTPS record to a name.
  public mutating func service(_ name: String, _ binding: ServiceBinding, ttl: UInt32 = 300) {
    add(DNSRecord(owner: Self.name(name), type: .https, ttl: ttl, data: .binding(binding)))
  }

  /// Adds a record of any kind.
  public mutating func add(_ record: DNSRecord) {
    entries[record.owner, default: Entry()].records.append(record)
  }

  /// Adds a name without any record: every type is NODATA.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - authority: the SOA of the answer; nil for none.
  public mutating func empty(_ name: String, authority: Authority? = Authority()) {
    entries[Self.name(name)] = Entry(authority: .some(authority))
  }

  /// Makes a name not exist (NXDOMAIN), whatever a generator would return.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - authority: the SOA of the answer; nil for none.
  public mutating func missing(_ name: String, authority: Authority? = Authority()) {
    entries[Self.name(name)] = Entry(responseCode: .nameError, authority: .some(authority))
  }

  /// Answers every question about a name with a response code and nothing else.
  public mutating func fail(_ name: String, _ responseCode: DNSMessage.ResponseCode) {
    entries[Self.name(name)] = Entry(responseCode: responseCode, authority: .some(nil))
  }

  /// Removes a name.
  public mutating func remove(_ name: String) { entries[Self.name(name)] = nil }

  /// Generates records for names that the table does not contain: for large numbers of names, and for wildcards.
  ///
  /// - Parameter generator: takes a name without its final dot and a type. An empty list means that the name has no
  ///   record of that type; nil, that the generator added before this one is asked, and that the name does not exist if
  ///   there is none. It must not call the server that the table belongs to, whose lock is held.
  public mutating func synthesise(
    _ generator: @escaping @Sendable (_ name: String, _ type: DNSRecordType) -> [DNSRecord]?
  ) {
    generators.append(generator)
  }

  // A test writes its records as constants: a mistake in one ends the process there, and the calls need no `try`.

  static func name(_ text: String) -> DNSName {
    // A mistake in a test's own text: it stops there rather than serve something else.
    guard let name = DNSName(text) else { preconditionFailure("\(text) is not a domain name") }
    return name
  }

  private static func address(_ text: String) -> IPAddress {
    // As above.
    guard let address = IPAddress(text) else { preconditionFailure("\(text) is not an IP address") }
    return address
  }
}

extension DNSRecord {
  /// An A or AAAA record, for ``RecordTable/synthesise(_:)``.
  ///
  /// - Parameters:
  ///   - name: the owner.
  ///   - address: the address, which decides the type.
  ///   - ttl: the lifetime in seconds, 300 by default.
  /// - Returns: the record.
  public static func address(_ name: String, _ address: IPAddress, ttl: UInt32 = 300) -> DNSRecord {
    DNSRecord(
      owner: RecordTable.name(name), type: DNSRecordType(address.family), ttl: ttl, data: .address(address))
  }
}
