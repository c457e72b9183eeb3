// SPDX-License-Identifier: Apache-2.0
/// A service binding: where and how an https origin can be reached (RFC 9460).
///
/// It is only data: this library does not connect by it.
public struct ServiceBinding: Hashable, Sendable {
  /// 0 means an alias; otherwise the smaller one is preferred.
  public var priority: UInt16
  /// The server's name; the root means the record's owner.
  public var target: DNSName
  /// The parameters by key, as they came.
  public var parameters: [UInt16: [UInt8]]

  /// Creates a binding.
  public init(priority: UInt16, target: DNSName, parameters: [UInt16: [UInt8]] = [:]) {
    self.priority = priority
    self.target = target
    self.parameters = parameters
  }

  /// The application protocols, such as `h2` and `h3` (key 1).
  ///
  /// A malformed list is empty.
  public var alpn: [String] {
    let items = parameters[Key.alpn].flatMap(Self.identifiers) ?? []
    return items.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The port, if it is not the scheme's default (key 3).
  public var port: UInt16? {
    guard let value = parameters[Key.port], value.count == 2 else { return nil }
    return Self.numbers(value).first
  }

  /// Addresses to begin with until the answers for A and AAAA come (keys 4 and 6).
  public var hints: [IPAddress] {
    [Key.ipv4Hint, Key.ipv6Hint].flatMap { Self.addresses($0, parameters[$0] ?? []) }
  }
}

/// The presentation form of service bindings (RFC 9460 §2.1 and appendix A).
extension ServiceBinding {
  /// The registered keys (IANA "Service Parameter Keys (SvcParamKeys)").
  private enum Key {
    static let mandatory: UInt16 = 0
    static let alpn: UInt16 = 1
    static let noDefaultALPN: UInt16 = 2
    static let port: UInt16 = 3
    static let ipv4Hint: UInt16 = 4
    static let ech: UInt16 = 5
    static let ipv6Hint: UInt16 = 6

    /// In the order of their numbers; the last one is from RFC 9461.
    static let names = ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint", "dohpath"]

    static func name(_ key: UInt16) -> String { Int(key) < names.count ? names[Int(key)] : "key\(key)" }

    /// The key of a name, which may also be `key` and a number without leading zeros.
    static func number(_ name: String) -> UInt16? {
      if let known = names.firstIndex(of: name) { return UInt16(known) }
      guard name.hasPrefix("key"), let key = UInt16(name.dropFirst(3)), name == "key\(key)" else { return nil }
      return key
    }
  }

  /// Whether each parameter's value is valid for its key, and none lacks another that it speaks of; otherwise the whole
  /// record is malformed (RFC 9460 §2.2, §7.1.1, §8).
  var isWellFormed: Bool {
    parameters.allSatisfy { Self.isWellFormed($0.key, $0.value) }
      && Self.numbers(parameters[Key.mandatory] ?? []).allSatisfy { parameters[$0] != nil }
      && (parameters[Key.noDefaultALPN] == nil || parameters[Key.alpn] != nil)
  }

  private static func isWellFormed(_ key: UInt16, _ value: [UInt8]) -> Bool {
    switch key {
    case Key.mandatory:
      let keys = numbers(value)
      return !value.isEmpty && value.count.isMultiple(of: 2) && zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
        && keys[0] != Key.mandatory
    case Key.alpn: return identifiers(value)?.isEmpty == false
    case Key.noDefaultALPN: return value.isEmpty
    case Key.port: return value.count == 2
    case Key.ipv4Hint: return !value.isEmpty && value.count.isMultiple(of: 4)
    case Key.ipv6Hint: return !value.isEmpty && value.count.isMultiple(of: 16)
    case Key.ech: return !value.isEmpty
    default: return true
    }
  }

  /// The record's data as text, with the keys in ascending order.
  var presentation: String {
    let all = parameters.sorted { $0.key < $1.key }.map { " " + Self.text($0.key, $0.value) }
    return "\(priority) \(target)" + all.joined()
  }

  private static func text(_ key: UInt16, _ value: [UInt8]) -> String {
    let name = Key.name(key)
    switch key {
    case Key.mandatory: return name + "=" + numbers(value).map(Key.name).joined(separator: ",")
    case Key.alpn:
      // An item's own commas and backslashes are escaped before the whole is escaped as a string (appendix A.1).
      let items = (identifiers(value) ?? []).map { item in
        item.flatMap { $0 == comma || $0 == ASCII.backslash ? [ASCII.backslash, $0] : [$0] }
      }
      return name + "=" + PresentationText.quoted(items.joined(separator: [comma]))
    case Key.port: return name + "=" + numbers(value).map(String.init).joined()
    case Key.ipv4Hint, Key.ipv6Hint:
      return name + "=" + addresses(key, value).map(\.description).joined(separator: ",")
    case Key.ech: return name + "=" + Base64.encoded(value)
    default: return value.isEmpty ? name : name + "=" + PresentationText.quoted(value)
    }
  }

  private static func numbers(_ value: [UInt8]) -> [UInt16] {
    stride(from: 0, to: value.count - 1, by: 2).map { UInt16(value[$0]) << 8 | UInt16(value[$0 + 1]) }
  }

  /// Strings, each after its length and none empty; nil if malformed.
  private static func identifiers(_ value: [UInt8]) -> [[UInt8]]? {
    var items: [[UInt8]] = []
    var rest = value[...]
    while let length = rest.popFirst() {
      guard length > 0, rest.count >= Int(length) else { return nil }
      items.append(Array(rest.prefix(Int(length))))
      rest = rest.dropFirst(Int(length))
    }
    return items
  }

  /// The addresses of a hint; none if it is malformed.
  private static func addresses(_ key: UInt16, _ value: [UInt8]) -> [IPAddress] {
    let size = key == Key.ipv4Hint ? 4 : 16
    guard value.count.isMultiple(of: size) else { return [] }
    return stride(from: 0, to: value.count, by: size).compactMap { IPAddress(bytes: value[$0..<$0 + size]) }
  }

  private static let comma = UInt8(ascii: ",")

  // MARK: Reading

  /// Reads the words of a record's data; nil if they are malformed.
  init?(_ words: [PresentationText.Word]) {
    guard words.count >= 2, let priority: UInt16 = words[0].number(), let target = words[1].name else { return nil }
    self.init(priority: priority, target: target)
    for word in words.dropFirst(2) {
      let name = word.bytes.prefix { $0 != UInt8(ascii: "=") }
      let value = Array(word.bytes.dropFirst(name.count + 1))
      guard let key = Key.number(String(decoding: name, as: UTF8.self)), parameters[key] == nil,
        // The value of `keyNNNNN` is written as it is on the wire (§2.1).
        let bytes = name.starts(with: "key".utf8) ? value : Self.bytes(key, value)
      else { return nil }
      parameters[key] = bytes
    }
    guard isWellFormed else { return nil }
  }

  private static func bytes(_ key: UInt16, _ value: [UInt8]) -> [UInt8]? {
    switch key {
    case Key.mandatory:
      let keys = items(value).compactMap { Key.number(String(decoding: $0, as: UTF8.self)) }
      return keys.count == items(value).count ? keys.sorted().flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] } : nil
    case Key.alpn:
      let items = items(value)
      return items.allSatisfy { (1...255).contains($0.count) } ? items.flatMap { [UInt8($0.count)] + $0 } : nil
    case Key.port:
      return Int64(ascii: value.span).flatMap { UInt16(exactly: $0) }.map { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    case Key.ipv4Hint, Key.ipv6Hint:
      let family = key == Key.ipv4Hint ? IPAddress.Family.ipv4 : .ipv6
      let addresses = items(value).compactMap { IPAddress(ascii: $0.span) }.filter { $0.family == family }
      return addresses.count == items(value).count ? addresses.flatMap(\.bytes) : nil
    case Key.ech: return base64(value)
    default: return value
    }
  }

  /// The bytes of base64 with or without its padding.
  private static func base64(_ value: [UInt8]) -> [UInt8]? {
    let inURLs = value.prefix { $0 != UInt8(ascii: "=") }.map {
      switch $0 {
      case UInt8(ascii: "+"): ASCII.hyphen
      case ASCII.slash: ASCII.underscore
      default: $0
      }
    }
    return Base64.urlDecoded(String(decoding: inURLs, as: UTF8.self))
  }

  /// The items of a list; a comma after a backslash does not separate them (appendix A.1).
  private static func items(_ value: [UInt8]) -> [[UInt8]] {
    var items: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in value {
      if !isEscaped, byte == ASCII.backslash {
        isEscaped = true
      } else if !isEscaped, byte == comma {
        items.append([])
      } else {
        items[items.count - 1].append(byte)
        isEscaped = false
      }
    }
    return items
  }
}
