// SPDX-License-Identifier: Apache-2.0
/// Bounds how many writes wait at a connection.
///
/// Each of them costs some 200 bytes beside its own, which SwiftNIO's water marks do not count: one side of a tunnel that
/// sends single bytes would make the proxy hold a hundred times of what it may.
struct PendingWrites {
  /// With it they cost about as much as the bytes that may wait.
  static let limit = 1024

  private var count = 0
  /// Whether nothing more should be read for this connection.
  private(set) var isFull = false

  /// Counts a write.
  ///
  /// - Returns: whether ``wentOut()`` is to be called when this write is out, and those before it.
  mutating func wrote() -> Bool {
    count += 1
    guard !isFull, count >= Self.limit else { return false }
    isFull = true
    count = 0
    return true
  }

  /// The write is out for which that was wanted.
  mutating func wentOut() { isFull = false }
}
