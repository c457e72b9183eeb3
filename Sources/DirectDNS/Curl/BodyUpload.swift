// SPDX-License-Identifier: Apache-2.0
/// A request's body that comes piece by piece: a task writes it, the loop's thread reads it.
///
/// When ``room`` bytes wait to be read, the writer is suspended.
final class BodyUpload: Sendable {
  /// Writes every piece in order, until `write` returns false because nobody wants more.
  typealias Source = @Sendable (_ write: @Sendable ([UInt8]) async -> Bool) async throws -> Void

  enum Piece: Hashable {
    /// So many bytes were copied.
    case bytes(Int)
    /// There are none at the moment; the loop's thread will be woken.
    case starved
    case ended, failed
  }

  /// The source has more or fewer bytes than its length, which the server was told first.
  struct WrongLength: Error, CustomStringConvertible {
    let length: Int64

    var description: String { "its length was given as \(length) bytes, and it has more or fewer" }
  }

  private struct State {
    var bytes: [UInt8] = []
    var offset = 0
    /// Bytes that the source has written so far.
    var written: Int64 = 0
    var hasEnded = false
    var failure: (any Error)?
    /// Whether the loop's thread has asked for bytes, and got none.
    var isStarved = false
    var feeder: Task<Void, Never>?
    var writer: CheckedContinuation<Void, Never>?
    /// Counts restarts, so that bytes which an earlier feeder still writes are ignored.
    var generation = 0
    /// Wakes the loop's thread, because there is more to read.
    var wake: (@Sendable () -> Void)?

    /// ``wake``, if the loop's thread has asked for bytes and got none.
    mutating func takeStarved() -> (@Sendable () -> Void)? {
      exchange(&isStarved, with: false) ? wake : nil
    }
  }

  static let room = 256 * 1024

  /// The number of bytes; nil if it is not known.
  let length: Int64?
  private let source: Source
  /// Whether the source can write the body again from the beginning.
  let canRestart: Bool
  private let state = Locked(State())

  init(length: Int64?, canRestart: Bool, source: @escaping Source) {
    self.length = length
    self.canRestart = canRestart
    self.source = source
  }

  /// Why the source failed, if it has.
  var failure: (any Error)? { state.withLock { $0.failure } }

  // MARK: The loop's thread

  /// Sets what is called when there is more to read.
  func setWake(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

  /// Copies the bytes that are there; the first call starts the source.
  func read(into room: UnsafeMutableRawBufferPointer) -> Piece {
    var writer: CheckedContinuation<Void, Never>?
    let piece = state.withLock { state -> Piece in
      if state.feeder == nil { begin(&state) }
      let count = min(room.count, state.bytes.count - state.offset)
      guard count > 0 else {
        if state.failure != nil { return .failed }
        if state.hasEnded { return .ended }
        state.isStarved = true
        return .starved
      }
      unsafe state.bytes[state.offset..<state.offset + count].withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      state.offset += count
      if state.offset == state.bytes.count {
        state.bytes.removeAll(keepingCapacity: true)
        state.offset = 0
        swap(&writer, &state.writer)
      }
      return .bytes(count)
    }
    writer?.resume()
    return piece
  }

  /// Goes back to the beginning, if the source can or has not been started.
  func restart() -> Bool {
    guard canRestart else { return state.withLock { $0.feeder == nil } }
    stop()
    state.withLock { $0 = State(generation: $0.generation, wake: $0.wake) }
    return true
  }

  /// Stops the source.
  func stop() {
    let (feeder, writer) = state.withLock { state in
      state.generation += 1
      return (state.feeder, state.writer.take())
    }
    feeder?.cancel()
    writer?.resume()
  }

  /// Withdraws the source, so that another upload can use it.
  ///
  /// - Returns: whether it can; not if it has been started and cannot restart.
  func withdraw() -> Bool {
    state.withLock { state in
      guard state.feeder == nil else { return canRestart }
      state.feeder = Task {}
      state.hasEnded = true
      return true
    }
  }

  // MARK: The feeder's task

  private func begin(_ state: inout State) {
    let generation = state.generation
    state.feeder = Task { [self] in
      do {
        try await source { await self.write($0, generation) }
        end(nil, generation)
      } catch {
        end(error, generation)
      }
    }
  }

  /// Adds a piece, and waits until there is room for another one.
  ///
  /// - Returns: whether more is wanted.
  private func write(_ piece: [UInt8], _ generation: Int) async -> Bool {
    let outcome = state.withLock { state -> (isWanted: Bool, isFull: Bool, wake: (@Sendable () -> Void)?) in
      guard state.generation == generation else { return (false, false, nil) }
      state.written += Int64(piece.count)
      if let length, state.written > length {
        state.failure = WrongLength(length: length)
        state.bytes = []
        state.offset = 0
        return (false, false, state.takeStarved())
      }
      if state.bytes.isEmpty { state.bytes = piece } else { state.bytes.append(contentsOf: piece) }
      return (true, state.bytes.count - state.offset >= Self.room, piece.isEmpty ? nil : state.takeStarved())
    }
    outcome.wake?()
    guard outcome.isWanted, outcome.isFull else { return outcome.isWanted }
    await state.wait { state, writer in
      guard state.generation == generation, state.bytes.count - state.offset >= Self.room else { return () }
      state.writer = writer
      return nil
    }
    return state.withLock { $0.generation == generation }
  }

  private func end(_ failure: (any Error)?, _ generation: Int) {
    let wake = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.generation == generation else { return nil }
      state.hasEnded = true
      guard state.failure == nil else { return nil }
      state.failure = failure
      if failure == nil, let length, state.written < length { state.failure = WrongLength(length: length) }
      return state.takeStarved()
    }
    wake?()
  }
}
