// SPDX-License-Identifier: Apache-2.0
package import DirectDNS

/// The keys of one kind of object in the configuration file.
package protocol ConfigurationKey: CodingKey, CaseIterable, RawRepresentable, Hashable where RawValue == String {
  /// The former names of keys, which are still accepted.
  static var formerNames: [String: Self] { get }
}

extension ConfigurationKey {
  package static var formerNames: [String: Self] { [:] }
}

/// A value of the file and its path.
package struct ConfigurationNode: Sendable {
  package let value: ConfigurationValue
  package let path: String
  /// Whether the value may be a secret, so that no error repeats it.
  package var isSecret: Bool
  /// The name of the outermost value in errors.
  let whole: String

  package init(value: ConfigurationValue, path: String, isSecret: Bool = false, whole: String = "the whole file") {
    self.value = value
    self.path = path
    self.isSecret = isSecret
    self.whole = whole
  }

  /// The error that says what is expected here.
  package func fault(_ expectation: String) -> ConfigurationFault {
    let place = path.isEmpty ? whole : path
    let found = isSecret ? "has a value that cannot be used (it is not shown)" : "is \(value.description)"
    return ConfigurationFault("\(place) \(found). \(expectation)")
  }

  // MARK: Plain values

  package func bool() throws(ConfigurationFault) -> Bool {
    guard case .bool(let value) = value else { throw fault("Give true or false.") }
    return value
  }

  package func text(_ expectation: String) throws(ConfigurationFault) -> String {
    guard case .text(let text) = value, !text.isEmpty else { throw fault(expectation) }
    return text
  }

  package func number(_ expectation: String, where isGood: (Double) -> Bool) throws(ConfigurationFault) -> Double {
    guard case .number(let number) = value, number.isFinite, isGood(number) else { throw fault(expectation) }
    return number
  }

  /// A whole number from 1 on.
  func count(of things: String, upTo most: Int) throws(ConfigurationFault) -> Int {
    Int(
      try number("Give a whole number of \(things), from 1 to \(most).") {
        $0 >= 1 && $0 <= Double(most) && $0.rounded() == $0
      })
  }

  /// A number of seconds, decimals allowed.
  package func seconds() throws(ConfigurationFault) -> Duration {
    let seconds = try number("Give a number of seconds, at least 0 and at most \(Int(Seconds.most)).") {
      $0 >= 0 && $0 <= Seconds.most
    }
    return Seconds.duration(seconds)
  }

  /// A timeout in seconds, with the same bounds as in options and variables.
  package func timeout() throws(ConfigurationFault) -> Duration {
    let duration = Seconds.duration(
      try number(Seconds.timeoutExpectation) { $0 > 0 && $0 <= Seconds.longestTimeout })
    guard duration > .zero else { throw fault(Seconds.timeoutExpectation) }
    return duration
  }

  // MARK: Values of the library

  /// A host's name.
  ///
  /// - Parameter isSuffix: whether it stands for itself and all names below it.
  /// - Returns: the name.
  /// - Throws: what is wrong with it.
  package func hostName(isSuffix: Bool = false) throws(ConfigurationFault) -> HostName {
    let text = try text("Give a host name.")
    do throws(DirectDNSError) { return try isSuffix ? HostName(suffix: text) : HostName(text) } catch {
      throw fault("Give a host name: \(error.clause).")
    }
  }

  package func address() throws(ConfigurationFault) -> IPAddress {
    let expectation = "Give an IP address, such as 192.0.2.1 or 2001:db8::1."
    guard let address = IPAddress.written(try text(expectation)) else { throw fault(expectation) }
    return address
  }

  /// One of a fixed set of words.
  package func choice<Choice: RawRepresentable & CaseIterable>(
    _: Choice.Type = Choice.self
  ) throws(ConfigurationFault) -> Choice where Choice.RawValue == String {
    let expectation = "Give one of \(Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))."
    guard let choice = Choice(rawValue: try text(expectation)) else { throw fault(expectation) }
    return choice
  }

  // MARK: Lists and objects

  package func list(_ expectation: String) throws(ConfigurationFault) -> [ConfigurationNode] {
    guard case .list(let values) = value else { throw fault(expectation) }
    return values.enumerated().map {
      ConfigurationNode(value: $1, path: "\(path)[\($0)]", isSecret: isSecret, whole: whole)
    }
  }

  /// The members of an object with any keys, sorted by key.
  package func pairs(_ expectation: String) throws(ConfigurationFault) -> [(key: String, node: ConfigurationNode)] {
    guard case .object(let values) = value else { throw fault(expectation) }
    return values.sorted { $0.key < $1.key }.map { (key: $0.key, node: child($0.key, $0.value)) }
  }

  /// An object with no other keys than these.
  package func object<Key: ConfigurationKey>(
    _: Key.Type, _ expectation: String = "Give an object."
  ) throws(ConfigurationFault) -> ConfigurationObject<Key> {
    guard case .object(var values) = value else { throw fault(expectation) }
    for (former, key) in Key.formerNames {
      guard let value = values.removeValue(forKey: former) else { continue }
      guard values.updateValue(value, forKey: key.rawValue) == nil else {
        throw ConfigurationFault(
          "\(child(former, .null).path) is what \(key.rawValue) was called before, and both are there. Keep \(key.rawValue)."
        )
      }
    }
    if let unknown = values.keys.sorted().first(where: { Key(rawValue: $0) == nil }) {
      // The value is not shown: it may be a secret under a misspelt key.
      let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
      throw ConfigurationFault(
        "\(child(unknown, .null).path) is not a key that is known here. Known are: \(known).")
    }
    return ConfigurationObject(node: self, values: values)
  }

  /// An object that may have other keys too.
  package func openObject<Key: ConfigurationKey>(_: Key.Type) throws(ConfigurationFault) -> ConfigurationObject<Key> {
    guard case .object(let values) = value else { throw fault("Give an object.") }
    return ConfigurationObject(node: self, values: values)
  }

  fileprivate func child(_ key: String, _ value: ConfigurationValue) -> ConfigurationNode {
    let name = key.printable
    return ConfigurationNode(
      value: value, path: path.isEmpty ? name : "\(path).\(name)", isSecret: isSecret, whole: whole)
  }
}

/// An object whose keys have been checked.
///
/// A key whose value is `null` counts as missing.
package struct ConfigurationObject<Key: ConfigurationKey>: Sendable {
  fileprivate let node: ConfigurationNode
  fileprivate let values: [String: ConfigurationValue]

  package subscript(key: Key) -> ConfigurationNode? {
    guard let value = values[key.rawValue], value != .null else { return nil }
    return node.child(key.rawValue, value)
  }

  /// The error that a required key is missing.
  package func missing(_ key: Key, _ expectation: String) -> ConfigurationFault {
    ConfigurationFault("\(node.child(key.rawValue, .null).path) is missing. \(expectation)")
  }
}
