// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Reads the variables named `DIRECTDNS_…` by what follows in their names; an empty one counts as unset.
struct EnvironmentReader {
  let environment: [String: String]

  /// A variable's text; nil if it is unset.
  func text(_ name: String) -> String? {
    environment[Self.fullName(name)].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A variable's value.
  ///
  /// - Parameters:
  ///   - name: the variable.
  ///   - expectation: what it may be, as a sentence.
  ///   - read: reads its text, nil if it is no such value.
  /// - Returns: the value; nil if it is unset.
  /// - Throws: that it is no such value.
  func value<Value>(
    _ name: String, _ expectation: String, _ read: (String) -> Value?
  ) throws(ConfigurationFault) -> Value? {
    guard let text = text(name) else { return nil }
    guard let value = read(text) else {
      throw ConfigurationFault("\(Self.fullName(name)) is \"\(text.printable)\". \(expectation)")
    }
    return value
  }

  /// The entries of a variable that is a list with commas, without the spaces around them.
  ///
  /// - Parameter name: the variable.
  /// - Returns: the entries; nil if it is unset or has nothing but spaces.
  /// - Throws: that it has no entry, or one with a space in it.
  func words(_ name: String) throws(ConfigurationFault) -> [String]? {
    try list(name, ",")?.enumerated().map { index, entry throws(ConfigurationFault) in
      let trimmed = entry.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
      // Not repeated: a URL may have a key in it.
      guard !trimmed.contains(where: \.isWhitespace) else {
        throw ConfigurationFault(
          "\(Self.fullName(name)): entry \(index + 1) has a space in it. Separate entries by commas.")
      }
      return String(trimmed)
    }
  }

  /// The entries of a variable that is a list of paths with colons.
  ///
  /// - Parameter name: the variable.
  /// - Returns: the entries, with their spaces; nil if it is unset or has nothing but spaces.
  /// - Throws: that it has no entry.
  func paths(_ name: String) throws(ConfigurationFault) -> [String]? { try list(name, ":")?.map(String.init) }

  private func list(_ name: String, _ separator: Character) throws(ConfigurationFault) -> [Substring]? {
    guard let text = text(name), text.contains(where: { !$0.isWhitespace }) else { return nil }
    let entries = text.split(separator: separator).filter { $0.contains { !$0.isWhitespace } }
    // Otherwise an empty list would replace the one of the file.
    guard !entries.isEmpty else {
      throw ConfigurationFault(
        "\(Self.fullName(name)) is \"\(text.printable)\": a list of nothing. Give an entry, or unset it.")
    }
    return entries
  }

  private static func fullName(_ name: String) -> String { EnvironmentSettings.prefix + name }
}
