// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The configuration file: JSON with comments, every key optional.
///
/// `Config/dnsctl.example.json5` shows all keys. It is read and never written, since it may hold secrets.
public struct ConfigurationFile: Sendable {
  enum Key: String, ConfigurationKey {
    case providers, system, cache, capacity, keepAlive, pins, localZones, timeout, hedging,
      connectionsPerServer, families, expired,
      ca, addressPolicy, direct, proxy, store
  }

  enum SystemKey: String, ConfigurationKey { case enabled, servers }

  enum CacheKey: String, ConfigurationKey {
    case minimumTTL, maximumTTL, grace, maximumStale, clientResponseTimeout, minimumNegativeTTL, maximumNegativeTTL,
      negativeTTLWithoutSOA, minimumFailureTTL, maximumFailureTTL, failureRecheck, refreshesAhead

    /// The names before the terms of RFC 8767 and RFC 9520 were adopted.
    static var formerNames: [String: Self] {
      [
        "patience": .clientResponseTimeout, "minimumFailureMemory": .minimumFailureTTL,
        "maximumFailureMemory": .maximumFailureTTL, "staleRecheck": .failureRecheck,
      ]
    }
  }

  /// Where it was read from, for errors.
  var name = ""
  var providers: [ProviderEntry]?
  var usesSystemDNS: Bool?
  var systemServers: [String] = []
  var cache = CachePolicy()
  var capacity: Int?
  var keepAlive: Set<HostName> = []
  var localZones = LocalZones()
  var timeout: Duration?
  var hedges: Bool?
  var connectionsPerServer: Int?
  var families: AddressFamilies?
  var expired: ExpiredUse?
  var authorities: [String] = []
  /// The file and the key's path, by each of these files.
  var authorityOrigins: [String: String] = [:]
  var addressPolicy = AddressPolicy.publicOnly
  var direct = DirectSwitch.on
  var proxy = ProxyEntry()
  var store: StoreSetting?

  /// Creates the configuration without a file: only the defaults.
  public init() {}

  /// Reads a file's bytes.
  ///
  /// - Parameters:
  ///   - bytes: the file's contents.
  ///   - name: its path, with which errors begin; relative paths in the file are relative to its folder.
  /// - Throws: `invalidConfiguration` with the name, the line or the key's path, the value and what is expected; no
  ///   secret.
  public init(_ bytes: [UInt8], name: String) throws(DirectDNSError) {
    do throws(ConfigurationFault) { try self.init(checking: bytes, name: name) } catch { throw error.error }
  }

  package init(checking bytes: [UInt8], name: String) throws(ConfigurationFault) {
    let value: ConfigurationValue
    do throws(ConfigurationFault) { value = try JSON5Reader.read(bytes) } catch {
      throw ConfigurationFault("\(name): \(error.message)")
    }
    try self.init(value, name: name)
  }

  /// Creates the configuration from a value of another source, with the structure of a file.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - name: the text with which errors begin; relative paths are relative to its folder.
  ///   - providerPaths: the paths of providers that differ from those in a file, by their indices in its list.
  /// - Throws: what is wrong, with the key's path.
  package init(
    _ value: ConfigurationValue, name: String, providerPaths: [Int: String] = [:]
  ) throws(ConfigurationFault) {
    self.name = name
    do throws(ConfigurationFault) { try read(ConfigurationNode(value: value, path: ""), providerPaths) } catch {
      throw ConfigurationFault("\(name): \(error.message)")
    }
  }

  /// Checks the permissions of a configuration file, which decides where names lead.
  ///
  /// - Parameter path: the file's.
  /// - Returns: a warning, if a group or another user may write to it.
  /// - Throws: if everybody may write to it.
  package static func warning(of path: String) throws(ConfigurationFault) -> String? {
    switch FileTrust(path: path) {
    case .trusted: return nil
    case .doubtful(let reason): return "\(path): the configuration file \(reason)"
    case .refused(let reason): throw ConfigurationFault("\(path): the configuration file \(reason)")
    }
  }

  private mutating func read(
    _ node: ConfigurationNode, _ providerPaths: [Int: String]
  ) throws(ConfigurationFault) {
    let object = try node.object(Key.self)
    if let node = object[.providers] {
      let nodes = try node.list("Give a list of providers.").enumerated()
      providers = try nodes.map { place, node throws(ConfigurationFault) in
        try ProviderEntry(providerPaths[place].map { ConfigurationNode(value: node.value, path: $0) } ?? node)
      }
    }
    try readSystem(object[.system])
    try readCache(object[.cache])
    capacity = try object[.capacity]?.count(of: "names", upTo: ResolverConfiguration.largestCapacity)
    keepAlive = Set(try Self.hosts(object[.keepAlive], areZones: false))
    localZones.suffixes = try Self.hosts(object[.localZones], areZones: true)
    try readPins(object[.pins])
    timeout = try object[.timeout]?.timeout()
    hedges = try object[.hedging]?.bool()
    connectionsPerServer = try object[.connectionsPerServer]?.count(of: "connections", upTo: 1000)
    families = try object[.families]?.choice(FamilyWord.self).families
    expired = try object[.expired]?.choice()
    authorities = try (object[.ca]?.list("Give a list of files.") ?? []).map {
      node throws(ConfigurationFault) in
      let path = path(try node.text("Give a file's path."))
      if authorityOrigins[path] == nil { authorityOrigins[path] = "\(name): \(node.path)" }
      return path
    }
    if let node = object[.addressPolicy] { addressPolicy = try AddressPolicy(node) }
    if let node = object[.direct] { direct = try DirectSwitch(node) }
    if let node = object[.proxy] { proxy = try ProxyEntry(node) }
    if let node = object[.store] { store = StoreSetting(place: try place(node), origin: "\(name): \(node.path)") }
  }

  /// A store's place; a URL may hold a password and is not shown.
  private func place(_ node: ConfigurationNode) throws(ConfigurationFault) -> StorePlace {
    let text = try node.text(StorePlace.forms)
    do throws(ConfigurationFault) {
      let place = try StorePlace(text)
      if case .file(let named?) = place { return .file(path(named)) }
      return place
    } catch {
      throw ConfigurationFault("\(node.path): \(error.message)")
    }
  }

  /// A path as the file means it: relative to its folder, and not to the working directory of the process.
  private func path(_ text: String) -> String {
    guard !text.hasPrefix("/"), let end = name.lastIndex(of: "/") else { return text }
    return name[...end] + text
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
    for (key, property) in CachePolicy.times {
      if let node = object[key] { cache[keyPath: property] = try node.seconds() }
    }
    cache.negativeTTLWithoutSOA = try object[.negativeTTLWithoutSOA]?.seconds()
    if let node = object[.refreshesAhead] { cache.refreshesAhead = try node.bool() }
    // The error names the key that the file sets; if it sets both, the lower bound.
    for (low, high, isWrong) in [
      (CacheKey.minimumTTL, CacheKey.maximumTTL, cache.minimumTTL > cache.maximumTTL),
      (.minimumNegativeTTL, .maximumNegativeTTL, cache.minimumNegativeTTL > cache.maximumNegativeTTL),
      (.minimumFailureTTL, .maximumFailureTTL, cache.minimumFailureTTL > cache.maximumFailureTTL),
    ] where isWrong {
      guard let node = object[low] ?? object[high] else { continue }
      throw node.fault("\(low.rawValue) may not be greater than \(high.rawValue).")
    }
    if let node = object[.maximumFailureTTL], cache.maximumFailureTTL > CachePolicy.longestFailureTTL {
      throw node.fault("Give at most \(CachePolicy.longestFailureTTL.components.seconds): RFC 9520 allows no more.")
    }
  }

  private mutating func readPins(_ node: ConfigurationNode?) throws(ConfigurationFault) {
    for (key, node) in try node?.pairs("Give an object of host names and their addresses.") ?? [] {
      let host: HostName
      do {
        host = try HostName(key)
      } catch {
        throw ConfigurationFault("\(node.path): the key is not a host name: \(error.clause).")
      }
      let addresses = try node.list("Give a list of IP addresses.")
      guard !addresses.isEmpty else { throw node.fault("Give at least one IP address.") }
      guard localZones.pins[host] == nil else {
        throw ConfigurationFault("\(node.path): \(host) is there twice, in two spellings. Keep one of them.")
      }
      localZones.pins[host] = try addresses.map { node throws(ConfigurationFault) in try node.address() }
    }
  }

  private static func hosts(_ node: ConfigurationNode?, areZones: Bool) throws(ConfigurationFault) -> [HostName] {
    try (node?.list("Give a list of host names.") ?? []).map { node throws(ConfigurationFault) in
      try node.hostName(isSuffix: areZones)
    }
  }

  /// A DNS server in the format of c-ares.
  private static func server(_ text: String) -> String? {
    // c-ares 1.18 refuses the whole list for the sake of a bracketed address without a port.
    if let address = IPAddress(text) { return address.family == .ipv6 ? "[\(address)]:53" : "\(address)" }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(port: text[text.index(after: colon)...]), port > 0,
      let address = IPAddress.beforePort(text[..<colon])
    else { return nil }
    return "\(address.bracketed):\(port)"
  }
}

/// The words for the families of addresses.
package enum FamilyWord: String, CaseIterable, Sendable {
  case any, ipv4, ipv6

  package var families: AddressFamilies {
    switch self {
    case .any: .any
    case .ipv4: .ipv4
    case .ipv6: .ipv6
    }
  }
}

extension CachePolicy {
  /// The policy's times by their keys in the file, except the optional one (`negativeTTLWithoutSOA`).
  static var times: [(key: ConfigurationFile.CacheKey, property: WritableKeyPath<CachePolicy, Duration>)] {
    [
      (.minimumTTL, \.minimumTTL), (.maximumTTL, \.maximumTTL), (.grace, \.grace), (.maximumStale, \.maximumStale),
      (.clientResponseTimeout, \.clientResponseTimeout), (.minimumNegativeTTL, \.minimumNegativeTTL),
      (.maximumNegativeTTL, \.maximumNegativeTTL), (.minimumFailureTTL, \.minimumFailureTTL),
      (.maximumFailureTTL, \.maximumFailureTTL), (.failureRecheck, \.failureRecheck),
    ]
  }
}
