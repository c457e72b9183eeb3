// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import HTTPTypes

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads a line of standard input as JSON; errors name the path of the wrong value.
enum JSONLineReader {
  /// Reads a line.
  ///
  /// - Throws: `invalidRequest`, which says what is wrong where, and what is expected.
  static func read<Value>(
    _ line: String, _ make: (ConfigurationNode) throws(ConfigurationFault) -> Value
  ) throws(DirectDNSError) -> Value {
    guard let value = try? JSONDecoder().decode(ConfigurationValue.self, from: Data(line.utf8)) else {
      throw DirectDNSError(.invalidRequest, "the line is not JSON: write one object a line")
    }
    do throws(ConfigurationFault) {
      return try make(ConfigurationNode(value: value, path: "", whole: "the line"))
    } catch {
      throw DirectDNSError(.invalidRequest, error.message)
    }
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
