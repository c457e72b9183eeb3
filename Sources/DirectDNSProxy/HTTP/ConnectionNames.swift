// SPDX-License-Identifier: Apache-2.0
/// The fields that a head names in `Connection` and `Proxy-Connection`: they are only for the next hop (RFC 9110
/// §7.6.1).
struct ConnectionNames {
  /// Up to so many names are compared with each field directly; ordinary heads have fewer.
  private static let fewest = 8

  private var tokens: [Range<Int>] = []
  /// The same in lower case, if there are more: a head has room for some tens of thousands, besides hundreds of fields.
  private var names: Set<[UInt8]> = []

  init(_ head: MessageHead) {
    head.forEachToken(of: .connection) { tokens.append($0) }
    head.forEachToken(of: .proxyConnection) { tokens.append($0) }
    if tokens.count > Self.fewest { names = Set(tokens.map { Self.lowered(head, $0) }) }
  }

  /// The names in lower case, for trailers: they come when the head is gone.
  static func set(of head: MessageHead) -> Set<[UInt8]> {
    Set(ConnectionNames(head).tokens.map { lowered(head, $0) })
  }

  /// Whether a field is named.
  func contains(_ field: MessageHead.Field, of head: MessageHead) -> Bool {
    let name = field.line.lowerBound..<field.colon
    guard names.isEmpty else { return names.contains(Self.lowered(head, name)) }
    return tokens.contains { token in
      name.count == token.count
        && zip(name, token).allSatisfy { Self.lowered(head.bytes[$0]) == Self.lowered(head.bytes[$1]) }
    }
  }

  private static func lowered(_ head: MessageHead, _ range: Range<Int>) -> [UInt8] { head.bytes[range].map(lowered) }

  static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
