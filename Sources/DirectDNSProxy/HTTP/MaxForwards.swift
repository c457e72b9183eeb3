// SPDX-License-Identifier: Apache-2.0

/// How many proxies a request may still pass (RFC 9110 §7.6.2).
enum MaxForwards: Equatable, Sendable {
  /// It has no such limit.
  case unlimited
  /// This one has to answer it.
  case end
  /// It is passed on with this number.
  case forward(Int)

  /// The most that is passed on: more than there are proxies, and every recipient can hold it.
  private static let most = 0x7fff_ffff

  /// Reads the field, which is also for TRACE, but that is refused anyway.
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
    self = count == 0 ? .end : .forward(count - 1)
  }
}
