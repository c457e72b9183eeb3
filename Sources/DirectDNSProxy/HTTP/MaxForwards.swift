// SPDX-License-Identifier: Apache-2.0

/// How many proxies a request may still pass (RFC 9110 §7.6.2).
enum MaxForwards: Equatable, Sendable {
  /// It says nothing of that.
  case unlimited
  /// This one has to answer it.
  case end
  /// What the next one is told.
  case goOn(Int)

  /// What is told at most: more than there are proxies, and every recipient can count it.
  private static let most = 0x7fff_ffff

  /// Reads it; TRACE, of which it is said as well, goes no further anyway.
  ///
  /// - Parameters:
  ///   - head: a request.
  ///   - method: its method.
  init(_ head: MessageHead, method: String) {
    self = .unlimited
    guard method == "OPTIONS", let value = head.onlyValue(.maxForwards), !value.isEmpty else { return }
    var count = 0
    for index in value {
      guard head.bytes[index].isDigit else { return }
      count = min(count * 10 + Int(head.bytes[index] - 0x30), Self.most + 1)
    }
    self = count == 0 ? .end : .goOn(count - 1)
  }
}
