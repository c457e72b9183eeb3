// SPDX-License-Identifier: Apache-2.0
/// The part of a response's body that has come and waits for its reader; if it grows too large, the transfer is paused.
///
/// A pure value.
struct BodyBuffer {
  /// Bytes that wait for the reader.
  private(set) var bytes: [UInt8] = []
  /// The piece that the reader got last, if it was a long one: its memory is used again once the reader has dropped it.
  private var lastPiece: [UInt8] = []
  /// Whether the transfer is paused until the reader has taken what is there.
  private(set) var isPaused = false

  /// From how many bytes on a piece's memory is worth keeping.
  private static let longPiece = 32 * 1024

  /// Whether a piece is too much while so many bytes wait; if none do, it may be larger than the limit.
  static func isFull(_ waiting: Int, adding count: Int, limit: Int) -> Bool { waiting > 0 && waiting + count > limit }

  /// Whether the transfer has to pause before a piece; then the reader's next ``take()`` says that it is to go on.
  ///
  /// - Parameters:
  ///   - count: the bytes of the piece.
  ///   - kept: bytes that came before it and have not been appended yet.
  ///   - limit: how many bytes may wait for the reader.
  /// - Returns: whether it has to pause.
  mutating func pauses(adding count: Int, kept: Int, limit: Int) -> Bool {
    guard Self.isFull(bytes.count + kept, adding: count, limit: limit) else { return false }
    isPaused = true
    return true
  }

  /// Moves what came into the buffer, and leaves an empty array that keeps its capacity.
  mutating func append(_ incoming: inout [UInt8]) {
    if bytes.isEmpty { swap(&bytes, &incoming) } else { bytes.append(contentsOf: incoming) }
    incoming.removeAll(keepingCapacity: true)
  }

  /// Takes all bytes that are there.
  ///
  /// - Returns: the bytes, and whether a paused transfer is to go on; nil if there are none.
  mutating func take() -> (bytes: [UInt8], resumes: Bool)? {
    guard !bytes.isEmpty else { return nil }
    var taken = exchange(&lastPiece, with: [])
    // If the reader still has that piece, this makes a new array instead of clearing the shared one.
    taken.removeAll(keepingCapacity: true)
    swap(&taken, &bytes)
    if taken.count >= Self.longPiece { lastPiece = taken }
    return (taken, exchange(&isPaused, with: false))
  }
}
