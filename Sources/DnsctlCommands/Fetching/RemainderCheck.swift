// SPDX-License-Identifier: Apache-2.0
/// Whether the bytes that a file lacks come, and no more.
///
/// A file of the wrong length would look complete, and could not be continued any more.
struct RemainderCheck {
  /// What came is shorter or longer than announced.
  struct Fault: Error, Hashable {
    /// How many bytes were announced.
    let length: Int64
    let isShort: Bool
  }

  private let length: Int64
  private var left: Int64

  /// - Parameter length: how many bytes are to come.
  init(_ length: Int64) {
    self.length = length
    left = length
  }

  /// Takes what has come.
  ///
  /// - Parameter count: its bytes; nil at the end.
  /// - Throws: if it ends too early, or goes too far.
  mutating func take(_ count: Int?) throws(Fault) {
    left -= Int64(count ?? 0)
    guard left >= 0 else { throw Fault(length: length, isShort: false) }
    guard count != nil || left == 0 else { throw Fault(length: length, isShort: true) }
  }
}
