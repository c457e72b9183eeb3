internal import DirectDNS

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The configuration file: JSON with comments, every key optional.
///
/// `Config/dnsctl.example.json5` shows all keys.
/// It is read and never written, since it may hold secrets: `Decodable` without `Encodable`.
struct ConfigurationFile: Decodable, Sendable {
  enum Key: String, ConfigurationKey {
    case providers, system, cache, capacity, keepAlive, pins, localZones, timeout, hedging, families, expired,
      ca, addressPolicy
  }

  enum SystemKey: String, ConfigurationKey { case enabled, servers }

  enum CacheKey: String, ConfigurationKey {
    case minimumTTL, maximumTTL, grace, maximumStale, patience, minimumNegativeTTL, maximumNegativeTTL,
      negativeTTLWithoutSOA, minimumFailureMemory, maximumFailureMemory, staleRecheck, refreshesAhead
  }

  var providers: [ProviderEntry]?
  var usesSystemDNS: Bool?
  var systemServers: [String] = []
  var cache = CachePolicy()
  var capacity: Int?
  var keepAlive: Set<HostName> = []
  var localZones = LocalZones()
  var timeout: Duration?
  var hedges: Bool?
  var families: FamilyOption?
  var expired: ExpiredOption?
  var authorities: [String] = []
  var addressPolicy = AddressPolicy.publicOnly

  /// What is there without a file.
  init() {}

  init(from decoder: any Decoder) throws {
    try self.init(ConfigurationNode(value: ConfigurationValue(from: decoder), path: ""))
  }

  /// Reads a file's bytes.
  ///
  /// - Throws: what is wrong, with the file's name, the key path and the value; no secret.
  init(_ bytes: [UInt8], name: String) throws(SettingsError) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    do {
      self = try decoder.decode(Self.self, from: Data(bytes))
    } catch let fault as ConfigurationFault {
      throw SettingsError(.configuration, "\(name): \(fault.message)")
    } catch {
      throw SettingsError(.configuration, "\(name): \(Self.syntaxError(bytes))")
    }
  }

  private init(_ node: ConfigurationNode) throws(ConfigurationFault) {
    let object = try node.object(Key.self)
    if let node = object[.providers] {
      providers = try node.list("Give a list of providers.").map { node throws(ConfigurationFault) in
        try ProviderEntry(node)
      }
    }
    try readSystem(object[.system])
    try readCache(object[.cache])
    capacity = try object[.capacity].map { node throws(ConfigurationFault) in
      Int(
        try node.number("Give a whole number of names, at least 1.") {
          $0 >= 1 && $0 <= 1_000_000_000 && $0.rounded() == $0
        })
    }
    keepAlive = Set(try Self.hostNames(object[.keepAlive]))
    localZones.suffixes = try Self.hostNames(object[.localZones])
    try readPins(object[.pins])
    timeout = try object[.timeout]?.seconds(atLeast: .leastNonzeroMagnitude)
    hedges = try object[.hedging]?.bool()
    families = try object[.families]?.choice()
    expired = try object[.expired]?.choice()
    authorities = try (object[.ca]?.list("Give a list of files.") ?? []).map {
      node throws(ConfigurationFault) in
      try node.text("Give a file's path.")
    }
    if let node = object[.addressPolicy] { addressPolicy = try AddressPolicy(node) }
  }

  private mutating func readSystem(_ node: ConfigurationNode?) throws(ConfigurationFault) {
    guard let node else { return }
    if case .bool(let isOn) = node.value {
      usesSystemDNS = isOn
      return
    }
    let object = try node.object(SystemKey.self, "Give true, false, or an object with enabled and servers.")
    usesSystemDNS = try object[.enabled]?.bool()
    systemServers = try (object[.servers]?.list("Give a list of servers.") ?? []).map {
      node throws(ConfigurationFault) in
      let expectation = "Give ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT."
      guard let server = Self.server(try node.text(expectation)) else { throw node.fault(expectation) }
      return server
    }
  }

  private mutating func readCache(_ node: ConfigurationNode?) throws(ConfigurationFault) {
    guard let object = try node?.object(CacheKey.self) else { return }
    let times: [(CacheKey, WritableKeyPath<CachePolicy, Duration>)] = [
      (.minimumTTL, \.minimumTTL), (.maximumTTL, \.maximumTTL), (.grace, \.grace),
      (.maximumStale, \.maximumStale),
      (.patience, \.patience), (.minimumNegativeTTL, \.minimumNegativeTTL),
      (.maximumNegativeTTL, \.maximumNegativeTTL), (.minimumFailureMemory, \.minimumFailureMemory),
      (.maximumFailureMemory, \.maximumFailureMemory), (.staleRecheck, \.staleRecheck),
    ]
    for (key, property) in times {
      if let node = object[key] { cache[keyPath: property] = try node.seconds() }
    }
    cache.negativeTTLWithoutSOA = try object[.negativeTTLWithoutSOA]?.seconds()
    if let node = object[.refreshesAhead] { cache.refreshesAhead = try node.bool() }
    // The one that the file sets is named; if it sets both, the smaller bound.
    for (low, high, isWrong) in [
      (CacheKey.minimumTTL, CacheKey.maximumTTL, cache.minimumTTL > cache.maximumTTL),
      (.minimumNegativeTTL, .maximumNegativeTTL, cache.minimumNegativeTTL > cache.maximumNegativeTTL),
    ] where isWrong {
      guard let node = object[low] ?? object[high] else { continue }
      throw node.fault("\(low.rawValue) may not be greater than \(high.rawValue).")
    }
  }

  private mutating func readPins(_ node: ConfigurationNode?) throws(ConfigurationFault) {
    for (key, node) in try node?.pairs("Give an object of host names and their addresses.") ?? [] {
      let host: HostName
      do {
        host = try HostName(key)
      } catch {
        throw ConfigurationFault(message: "\(node.path): the key is no host name: \(error.message).")
      }
      let addresses = try node.list("Give a list of IP addresses.")
      guard !addresses.isEmpty else { throw node.fault("Give at least one IP address.") }
      localZones.pins[host] = try addresses.map { node throws(ConfigurationFault) in try node.address() }
    }
  }

  private static func hostNames(_ node: ConfigurationNode?) throws(ConfigurationFault) -> [HostName] {
    try (node?.list("Give a list of host names.") ?? []).map { node throws(ConfigurationFault) in
      try node.hostName()
    }
  }

  /// A DNS server as c-ares reads it.
  private static func server(_ text: String) -> String? {
    if let address = IPAddress(text) { return address.family == .ipv6 ? "[\(address)]" : "\(address)" }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
    else {
      return nil
    }
    let host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      guard let address = IPAddress(String(host.dropFirst().dropLast())), address.family == .ipv6 else {
        return nil
      }
      return "[\(address)]:\(port)"
    }
    guard let address = IPAddress(String(host)), address.family == .ipv4 else { return nil }
    return "\(address):\(port)"
  }

  private static func syntaxError(_ bytes: [UInt8]) -> String {
    let place = SyntaxCheck.firstFault(in: bytes).map { "line \($0.line), column \($0.column): " } ?? ""
    return "\(place)this is not JSON with comments. Check quotes, commas and braces there."
  }
}
