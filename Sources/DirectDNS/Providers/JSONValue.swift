// SPDX-License-Identifier: Apache-2.0
/// A value in a JSON text, with what is needed to read it: for replies that are read by name.
struct JSONValue: Sendable {
  private let reader: JSONReader
  private let place: Int

  private init(_ reader: JSONReader, _ place: Int) {
    self.reader = reader
    self.place = place
  }

  /// Reads a whole text; nil if it is not JSON.
  init?(_ bytes: [UInt8]) {
    guard let reader = JSONReader(bytes) else { return nil }
    self.init(reader, reader.root)
  }

  var isObject: Bool { reader.isObject(place) }
  var isTrue: Bool { reader.isTrue(place) }
  var string: String? { reader.string(place) }
  /// A whole number, or a string that spells one.
  var integer: Int64? { reader.integer(place) }

  /// What a string's bytes are read as; nil for what is no string.
  func spelled<Result>(as read: (Span<UInt8>) -> Result?) -> Result? { reader.spelled(place, as: read) }

  /// A member; nil if there is none, or null.
  ///
  /// Of several that have one name the last one counts.
  subscript(name: String) -> JSONValue? {
    guard isObject else { return nil }
    let wanted = JSONKey(name)
    var found: JSONValue?
    var place = place
    while let key = reader.nextMember(&place) {
      if key == wanted { found = reader.isNull(place) ? nil : JSONValue(reader, place) }
      reader.pass(&place)
    }
    return found
  }

  /// The elements; nil for what is no array.
  var elements: [JSONValue]? {
    guard reader.isArray(place) else { return nil }
    var elements: [JSONValue] = []
    var place = place
    while reader.nextElement(&place) {
      elements.append(JSONValue(reader, place))
      reader.pass(&place)
    }
    return elements
  }
}
