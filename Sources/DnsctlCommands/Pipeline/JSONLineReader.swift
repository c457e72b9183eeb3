// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import HTTPTypes

/// Reads a line of standard input as JSON; errors name the path of the wrong value.
enum JSONLineReader {
  /// Deeper than any line of ours, and far below what a thread's stack allows.
  private static let depthLimit = 64

  /// Reads a line.
  ///
  /// - Throws: `invalidRequest`, which says what is wrong where, and what is expected.
  static func read<Value>(
    _ line: String, _ make: (ConfigurationNode) throws(ConfigurationFault) -> Value
  ) throws(DirectDNSError) -> Value {
    let value = try Self.value(Array(line.utf8))
    do throws(ConfigurationFault) {
      return try make(ConfigurationNode(value: value, path: "", whole: "the line"))
    } catch {
      throw DirectDNSError(.invalidRequest, error.message)
    }
  }

  private static func value(_ line: [UInt8]) throws(DirectDNSError) -> ConfigurationValue {
    var (value, repeated) = (ConfigurationValue?.none, Repeated?.none)
    let isJSON = JSONReader.read(line, depthLimit: depthLimit) { reader in
      value = Self.value(line, &reader, &repeated)
      return value != nil
    }
    guard isJSON, let value else {
      throw DirectDNSError(.invalidRequest, "The line is not JSON: write one object a line.")
    }
    guard let repeated else { return value }
    let column = String(decoding: line[..<repeated.start], as: UTF8.self).count + 1
    throw DirectDNSError(
      .invalidRequest,
      "The key \(repeated.key.printable) is there for the second time, in column \(column). Keep one of the two.")
  }

  /// A key that an object has had before: readers do not agree on which of the two counts (RFC 8259 §4).
  private struct Repeated {
    let key: String
    let start: Int
  }

  /// Reads the value that comes next, and notes the first key that is there for the second time.
  private static func value(
    _ line: [UInt8], _ reader: inout JSONReader, _ repeated: inout Repeated?
  ) -> ConfigurationValue? {
    if reader.isAtObject() {
      var members: [String: ConfigurationValue] = [:]
      let isObject = reader.object { name, reader in
        guard let key = name.text(in: line), let value = Self.value(line, &reader, &repeated) else { return false }
        if members.updateValue(value, forKey: key) != nil, repeated == nil {
          repeated = Repeated(key: key, start: name.range.lowerBound)
        }
        return true
      }
      return isObject ? .object(members) : nil
    }
    if reader.isAtArray() {
      var elements: [ConfigurationValue] = []
      let isArray = reader.array { reader in
        guard let value = Self.value(line, &reader, &repeated) else { return false }
        elements.append(value)
        return true
      }
      return isArray ? .list(elements) : nil
    }
    guard let token = reader.value() else { return nil }
    if token.isString { return token.text(in: line).map { .text($0) } }
    if token.isTrue || token.isFalse { return .bool(token.isTrue) }
    return token.isNull ? .null : Double(String(decoding: line[token.range], as: UTF8.self)).map { .number($0) }
  }
}

extension HTTPFields {
  /// `[[name, value], …]`.
  ///
  /// Invalid names and values are refused, since they could smuggle in another field; values may be secrets and are not
  /// shown. Blanks around a value are no part of it (RFC 9110 §5.5), though some HTTP libraries hand on those at its
  /// end.
  ///
  /// - Parameters:
  ///   - node: the list.
  ///   - leaveOut: called with what an invalid field is, which is then left out; nil, the default, refuses them all.
  /// - Throws: what is wrong where, and what is expected.
  init(
    _ node: ConfigurationNode, leavingOut leaveOut: ((String) -> Void)? = nil
  ) throws(ConfigurationFault) {
    self.init()
    let list = try node.list("Give a list of [name, value].")
    guard list.count <= 1000 else { throw node.fault("Give at most 1000 header fields.") }
    for field in list {
      var pair = try field.list("Give [name, value].")
      guard pair.count == 2 else { throw field.fault("Give [name, value].") }
      let expectation = "Give a header field's name, such as \"Accept\"."
      guard case .text(let label) = pair[0].value else { throw pair[0].fault(expectation) }
      pair[1].isSecret = true
      let text = "Give a header field's value: text without line breaks and NUL."
      guard case .text(let written) = pair[1].value else { throw pair[1].fault(text) }
      let value = String(written[...].trimmed)
      let name = HTTPField.Name(label)
      if let name, HTTPField.isValidValue(value) {
        append(HTTPField(name: name, value: value))
        continue
      }
      let fault = name == nil ? pair[0].fault(expectation) : pair[1].fault(text)
      guard let leaveOut else { throw fault }
      leaveOut((name.map { "\($0.rawName): " } ?? "") + fault.message)
    }
  }
}
