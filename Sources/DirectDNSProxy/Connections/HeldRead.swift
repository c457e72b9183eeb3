// SPDX-License-Identifier: Apache-2.0
/// The read that a connection holds back while the other side takes nothing; it makes no read itself, since that may come
/// back to it.
struct HeldRead {
  private var isHeld = false

  /// SwiftNIO asks for a read, which is held back unless one is wanted.
  ///
  /// - Returns: whether to read now.
  mutating func asked(isWanted: Bool) -> Bool {
    if !isWanted { isHeld = true }
    return isWanted
  }

  /// The other side may take more now.
  ///
  /// - Parameter isWanted: whether a read is wanted; asked only while one is held back.
  /// - Returns: whether to make the read that was held back.
  mutating func released(isWanted: @autoclosure () -> Bool) -> Bool {
    guard isHeld, isWanted() else { return false }
    isHeld = false
    return true
  }
}
