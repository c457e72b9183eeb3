// SPDX-License-Identifier: Apache-2.0
#if ConfigReader || Everything
  internal import Configuration
  internal import DirectDNS
  internal import DirectDNSConfiguration

  /// Asks a reader for every key of the configuration, and makes of the values what would stand in the file, so that they
  /// are checked by the same rules.
  struct ReaderKeys {
    let reader: ConfigSnapshotReader

    /// What stands under a key.
    enum Shape: Sendable {
      case bool, number, text, secret, texts
      case object(KeyValuePairs<String, Shape>)
      /// One value that is short for an object.
      indirect case short(Shape, KeyValuePairs<String, Shape>)
    }

    /// The file's keys but for `providers`, `pins` and the proxy's `routes`.
    static let shapes: KeyValuePairs<String, Shape> = [
      "system": .short(.bool, ["enabled": .bool, "servers": .texts]),
      "cache": .object([
        "minimumTTL": .number, "maximumTTL": .number, "grace": .number, "maximumStale": .number,
        "clientResponseTimeout": .number, "minimumNegativeTTL": .number, "maximumNegativeTTL": .number,
        "negativeTTLWithoutSOA": .number, "minimumFailureTTL": .number, "maximumFailureTTL": .number,
        "failureRecheck": .number, "refreshesAhead": .bool,
      ]),
      "capacity": .number, "keepAlive": .texts, "localZones": .texts, "timeout": .number, "hedging": .bool,
      "connectionsPerServer": .number, "families": .text, "expired": .text, "ca": .texts,
      "addressPolicy": .short(.text, ["base": .text, "allow": .texts, "deny": .texts, "nat64": .texts]),
      "direct": .short(.text, ["off": .texts]),
      "store": .secret, "proxy": .object(["upstream": .secret, "upstreamResolves": .bool]),
    ]

    /// What the file says of one provider.
    static let provider: KeyValuePairs<String, Shape> = [
      "provider": .text, "name": .text, "bootstrap": .texts,
      "rateLimit": .object(["perSecond": .number, "burst": .number]),
      "credentials": .object(["account": .secret, "keyID": .secret, "secret": .secret, "token": .secret]),
      "clientSubnet": .text, "plainHTTP": .text,
    ]

    /// The file's content.
    ///
    /// A fault of `pins` or `routes` is found here, since the file has them in another form, and so is a key that has a
    /// value beside an object of its own: in the file it can only be one of them.
    func tree(name: String) throws(ConfigurationFault) -> ConfigurationValue {
      do throws(ConfigurationFault) {
        var values = try object(Self.shapes, at: []) ?? [:]
        values["providers"] = try providers()
        values["pins"] = try pairs(at: ["pins"], "Give a list of NAME=ADDRESS.").map { pairs in
          .object(Dictionary(grouping: pairs, by: \.name).mapValues { .list($0.map(\.value)) })
        }
        try addRoutes(to: &values)
        return .object(values)
      } catch {
        throw ConfigurationFault("\(name): \(error.message)")
      }
    }

    /// Where those providers stand of whom there is more than an entry in the list, by their places there.
    func providerPaths() -> [Int: String] {
      guard case .list(let entries)? = try? value(.texts, at: ["providers"]) else { return [:] }
      var paths: [Int: String] = [:]
      for (place, entry) in entries.enumerated() {
        guard case .text(let name) = entry, (try? object(Self.provider, at: ["provider", name])) != nil else {
          continue
        }
        paths[place] = "provider.\(name)"
      }
      return paths
    }

    // MARK: Those that have a form of their own

    private func providers() throws(ConfigurationFault) -> ConfigurationValue? {
      let value = try value(.texts, at: ["providers"])
      guard case .list(let entries) = value else { return value }
      return .list(
        try entries.map { entry throws(ConfigurationFault) in
          guard case .text(let name) = entry, var object = try object(Self.provider, at: ["provider", name]) else {
            return entry
          }
          // Its name in the list is its name in answers, unless that is what it is asked by.
          if object["provider"] == nil {
            object["provider"] = entry
          } else if object["name"] == nil {
            object["name"] = entry
          }
          return .object(object)
        })
    }

    /// The rules are names and routes in the file, and a list here.
    private func addRoutes(to values: inout [String: ConfigurationValue]) throws(ConfigurationFault) {
      guard let pairs = try pairs(at: ["proxy", "routes"], "Give a list of NAME=ROUTE.") else { return }
      var routes: [String: ConfigurationValue] = [:]
      for (name, route) in pairs {
        guard routes.updateValue(route, forKey: name) == nil else {
          throw ConfigurationFault("proxy.routes: \(name.printable) is there twice. Keep one of them.")
        }
      }
      var proxy: [String: ConfigurationValue] = [:]
      if case .object(let known) = values["proxy"] { proxy = known }
      proxy["routes"] = .object(routes)
      values["proxy"] = .object(proxy)
    }

    /// A list of `NAME=VALUE`, split at the last sign: a rule's name may begin with one.
    private func pairs(
      at path: [String], _ expectation: String
    ) throws(ConfigurationFault) -> [(name: String, value: ConfigurationValue)]? {
      guard let value = try value(.texts, at: path) else { return nil }
      var pairs: [(name: String, value: ConfigurationValue)] = []
      for node in try ConfigurationNode(value: value, path: path.joined(separator: ".")).list(expectation) {
        let text = try node.text(expectation)
        guard let sign = text.lastIndex(of: "=") else { throw node.fault(expectation) }
        pairs.append((String(text[..<sign]), .text(String(text[text.index(after: sign)...]))))
      }
      return pairs
    }

    // MARK: Any key

    private func object(
      _ shapes: KeyValuePairs<String, Shape>, at path: [String]
    ) throws(ConfigurationFault) -> [String: ConfigurationValue]? {
      var values: [String: ConfigurationValue] = [:]
      for (key, shape) in shapes { values[key] = try value(shape, at: path + [key]) }
      return values.isEmpty ? nil : values
    }

    /// What the reader has under a key, as the type that belongs there or, so that it can be named in an error, as another.
    private func value(_ shape: Shape, at path: [String]) throws(ConfigurationFault) -> ConfigurationValue? {
      let key = ConfigKey(path)
      var isSecret = false
      if case .secret = shape { isSecret = true }
      func bool() -> ConfigurationValue? { reader.bool(forKey: key, isSecret: isSecret).map { .bool($0) } }
      // A provider that knows types has whole numbers as such alone.
      func number() -> ConfigurationValue? {
        (reader.double(forKey: key, isSecret: isSecret) ?? reader.int(forKey: key, isSecret: isSecret).map(Double.init))
          .map { .number($0) }
      }
      func text() -> ConfigurationValue? { reader.string(forKey: key, isSecret: isSecret).map { .text($0) } }
      func texts() -> ConfigurationValue? {
        reader.stringArray(forKey: key, isSecret: isSecret).map { .list($0.map { .text($0) }) }
      }
      switch shape {
      case .bool: return bool() ?? number() ?? text() ?? texts()
      case .number: return number() ?? bool() ?? text() ?? texts()
      // Where texts are all there is, such as in the environment, a list is one with commas: it is no list here.
      case .text, .secret: return text() ?? number() ?? bool() ?? texts()
      case .texts: return texts() ?? number() ?? bool() ?? text()
      case .object(let shapes): return try object(shapes, at: path).map { .object($0) }
      case .short(let short, let shapes):
        let (value, object) = (try value(short, at: path), try object(shapes, at: path))
        guard value != nil, let object else { return value ?? object.map { .object($0) } }
        let key = path.joined(separator: ".")
        let others = object.keys.sorted().map { "\(key).\($0)" }.joined(separator: " and ")
        throw ConfigurationFault(
          "\(key) stands for all keys below it, and \(others) is there as well. Keep one of them.")
      }
    }
  }
#endif
