// SPDX-License-Identifier: Apache-2.0
/// A value in a JSON text, for replies whose members are read by name.
///
/// Each access goes through the value again, which is cheap for texts of this size.
struct JSONValue: Sendable {
  private let bytes: [UInt8]
  private let token: JSONToken

  private init(_ bytes: [UInt8], _ token: JSONToken) {
    self.bytes = bytes
    self.token = token
  }

  /// Reads a whole text; nil if it is not JSON.
  init?(_ bytes: [UInt8]) {
    var token: JSONToken?
    let isJSON = JSONReader.read(bytes) { reader in
      token = reader.value()
      return token != nil
    }
    guard isJSON, let token else { return nil }
    self.init(bytes, token)
  }

  var isObject: Bool { token.isObject }
  var isTrue: Bool { token.isTrue }
  var string: String? { token.string(in: bytes) }
  /// A whole number, or a string that holds one.
  var integer: Int64? { token.integer(in: bytes) }

  /// What `read` makes of a string's bytes; nil for anything else.
  func spelled<Result>(as read: (Span<UInt8>) -> Result?) -> Result? { token.spelled(in: bytes, as: read) }

  private var reader: JSONReader { JSONReader(bytes, at: token.range.lowerBound) }

  /// A member; nil if there is none, or if it is null.
  ///
  /// If several have the same name, the last one counts.
  subscript(name: String) -> JSONValue? {
    let wanted = JSONKey(name)
    var (reader, found) = (reader, JSONToken?.none)
    _ = reader.object { name, reader in
      guard let value = reader.value() else { return false }
      if name.key(in: bytes) == wanted { found = value.isNull ? nil : value }
      return true
    }
    return found.map { JSONValue(bytes, $0) }
  }

  /// The elements; nil for anything but an array.
  var elements: [JSONValue]? {
    var (reader, elements) = (reader, [JSONValue]())
    let isArray = reader.array { reader in
      guard let value = reader.value() else { return false }
      elements.append(JSONValue(bytes, value))
      return true
    }
    return isArray ? elements : nil
  }
}
