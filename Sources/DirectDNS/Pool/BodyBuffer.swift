// SPDX-License-Identifier: Apache-2.0
/// What has come of a response's body and waits for its reader: a slow one makes the transfer wait.
///
/// A pure value.
struct BodyBuffer {
  /// Bytes that wait for the reader.
  private(set) var bytes: [UInt8] = []
  /// The piece that the reader got last, if it was a long one: its room is used again once the reader has dropped it.
  private var lastPiece: [UInt8] = []
  /// Whether the transfer waits until the reader has taken what is there.
  private(set) var isPaused = false

  /// A piece whose room is worth keeping, in bytes.
  private static let longPiece = 32 * 1024

  /// Whether so many bytes more are too many; one piece that is larger than the limit is taken when nothing else is there.
  static func isFull(_ waiting: Int, adding count: Int, limit: Int) -> Bool { waiting > 0 && waiting + count > limit }

  /// Whether a piece has to wait for the reader, whose next ``take()`` then says that the transfer is to go on.
  ///
  /// - Parameters:
  ///   - count: the bytes of the piece.
  ///   - kept: bytes that came before it and are not here yet.
  ///   - limit: how many bytes may wait.
  /// - Returns: whether it waits.
  mutating func pauses(adding count: Int, kept: Int, limit: Int) -> Bool {
    guard Self.isFull(bytes.count + kept, adding: count, limit: limit) else { return false }
    isPaused = true
    return true
  }

  /// Adds what came, and leaves room for as much if there is some.
  mutating func append(_ incoming: inout [UInt8]) {
    if bytes.isEmpty { swap(&bytes, &incoming) } else { bytes.append(contentsOf: incoming) }
    incoming.removeAll(keepingCapacity: true)
  }

  /// Takes all that is there.
  ///
  /// - Returns: the bytes, and whether the transfer waits to go on; nil if there are none.
  mutating func take() -> (bytes: [UInt8], resumes: Bool)? {
    guard !bytes.isEmpty else { return nil }
    var taken: [UInt8] = []
    swap(&taken, &lastPiece)
    // One that the reader keeps is left alone, and another takes its place.
    taken.removeAll(keepingCapacity: true)
    swap(&taken, &bytes)
    if taken.count >= Self.longPiece { lastPiece = taken }
    defer { isPaused = false }
    return (taken, isPaused)
  }
}
