// SPDX-License-Identifier: Apache-2.0
/// What a record says, if its type is known here (RFC 1035 §3.3 and the types' own RFCs).
///
/// Malformed data, and the data of unknown types, is kept as it came.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum RecordData: Hashable, Sendable {
  /// The start of a zone of authority (RFC 1035 §3.3.13).
  public struct Authority: Hashable, Sendable {
    /// The zone's primary server.
    public var primary: DNSName
    /// The mailbox of the person who is responsible, with a dot for the `@`.
    public var mailbox: DNSName
    /// The zone's version.
    public var serial: UInt32
    /// Seconds after which a secondary checks for a new version.
    public var refresh: UInt32
    /// Seconds after which it tries again.
    public var retry: UInt32
    /// Seconds after which it stops serving the zone.
    public var expire: UInt32
    /// The longest lifetime of a negative answer, in seconds (RFC 2308 §4).
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
  /// MX: a server that takes mail; the smaller preference is tried first.
  case mailExchange(preference: UInt16, exchange: DNSName)
  /// TXT: one string or more, of any bytes.
  case text([[UInt8]])
  /// SRV: a server that offers a service (RFC 2782).
  case service(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
  /// SOA.
  case startOfAuthority(Authority)
  /// SVCB and HTTPS (RFC 9460).
  case binding(ServiceBinding)
  /// CAA: which authority may issue certificates (RFC 8659).
  case certificationAuthority(flags: UInt8, tag: String, value: [UInt8])
  /// The bytes as they came: of a type that is not known here, or malformed.
  case opaque([UInt8])
  /// The text as it came from a provider that answers in JSON: of a type that is not known here, or malformed.
  case presentation(String)
}

extension RecordData: CustomStringConvertible {
  /// The data in the presentation form of its type's RFC; data without one as `\# LENGTH HEX` (RFC 3597 §5).
  ///
  /// Names are in lower case and end with a dot.
  public var description: String {
    switch self {
    case .address(let address): "\(address)"
    case .name(let name): "\(name)"
    case .mailExchange(let preference, let exchange): "\(preference) \(exchange)"
    case .text(let strings): strings.map { PresentationText.quoted($0) }.joined(separator: " ")
    case .service(let priority, let weight, let port, let target): "\(priority) \(weight) \(port) \(target)"
    case .startOfAuthority(let zone):
      "\(zone.primary) \(zone.mailbox) \(zone.serial) \(zone.refresh) \(zone.retry) \(zone.expire) \(zone.minimum)"
    case .binding(let binding): binding.presentation
    case .certificationAuthority(let flags, let tag, let value):
      "\(flags) \(tag) \(PresentationText.quoted(value))"
    case .opaque(let bytes): PresentationText.generic(bytes)
    case .presentation(let text): text.printable
    }
  }
}

extension RecordData {
  /// Reads the presentation form as JSON APIs write it; nil if it is malformed for that type.
  init?(_ text: String, type: DNSRecordType) {
    if PresentationText.isGeneric(text) {
      guard let bytes = PresentationText.bytes(generic: text) else { return nil }
      self.init(bytes, type: type)
      return
    }
    guard type != .txt else {
      self = .text(Self.strings(text))
      return
    }
    guard Self.isKnown(type) else {
      self = .presentation(text)
      return
    }
    guard let words = PresentationText.words(text), let data = Self.data(words, type) else { return nil }
    self = data
  }

  /// Whether the data of a type is decoded.
  static func isKnown(_ type: DNSRecordType) -> Bool {
    [.a, .aaaa, .cname, .dname, .ns, .ptr, .mx, .txt, .srv, .soa, .svcb, .https, .caa].contains(type)
  }

  private static func data(_ words: [PresentationText.Word], _ type: DNSRecordType) -> RecordData? {
    switch (type, words.count) {
    case (.a, 1), (.aaaa, 1):
      let text = words[0].bytes
      guard let address = IPAddress(ascii: text.span), DNSRecordType(address.family) == type else {
        return nil
      }
      return .address(address)
    case (.cname, 1), (.dname, 1), (.ns, 1), (.ptr, 1): return words[0].name.map(RecordData.name)
    case (.mx, 2):
      guard let preference: UInt16 = words[0].number(), let exchange = words[1].name else { return nil }
      return .mailExchange(preference: preference, exchange: exchange)
    case (.srv, 4):
      let numbers: [UInt16] = words.prefix(3).compactMap { $0.number() }
      guard numbers.count == 3, let target = words[3].name else { return nil }
      return .service(priority: numbers[0], weight: numbers[1], port: numbers[2], target: target)
    case (.soa, 7):
      let numbers: [UInt32] = words.dropFirst(2).compactMap { $0.number() }
      guard numbers.count == 5, let primary = words[0].name, let mailbox = words[1].name else { return nil }
      return .startOfAuthority(
        Authority(
          primary: primary, mailbox: mailbox, serial: numbers[0], refresh: numbers[1], retry: numbers[2],
          expire: numbers[3], minimum: numbers[4]))
    case (.caa, 3):
      guard let flags: UInt8 = words[0].number(), isTag(words[1].bytes) else { return nil }
      return .certificationAuthority(
        flags: flags, tag: String(decoding: words[1].bytes, as: UTF8.self), value: words[2].bytes)
    case (.svcb, 2...), (.https, 2...): return ServiceBinding(words).map(RecordData.binding)
    default: return nil
    }
  }

  /// The strings of a TXT record: those in quotes, or the whole text if the provider leaves the quotes out.
  private static func strings(_ text: String) -> [[UInt8]] {
    // By bytes: a quote with a combining mark behind it is another `Character`.
    guard text.utf8.first == PresentationText.quote, let words = PresentationText.words(text) else {
      return pieces(Array(text.utf8))
    }
    return words.flatMap { pieces($0.bytes) }
  }

  /// Bytes split into strings of a TXT record, at most 255 bytes each (RFC 1035 §3.3).
  private static func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    repeat {
      pieces.append(Array(rest.prefix(255)))
      rest = rest.dropFirst(255)
    } while !rest.isEmpty
    return pieces
  }
}
