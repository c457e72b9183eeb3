// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// A response's body that was not received: of a test, or of a layer of the caller's own.
final class SyntheticBody: Sendable {
  private enum State: Sendable {
    case open
    case reading(Task<[UInt8]?, any Error>)
    case ended
    case failed(DirectDNSError)
  }

  private let state = Locked(State.open)
  private let pieces: @Sendable () async throws -> [UInt8]?
  private let trailers: HTTPFields

  /// Creates a body.
  ///
  /// - Parameters:
  ///   - trailers: the fields that follow it.
  ///   - pieces: returns the next piece; nil at the end.
  init(trailers: HTTPFields, pieces: @escaping @Sendable () async throws -> [UInt8]?) {
    self.trailers = trailers
    self.pieces = pieces
  }

  var trailerFields: HTTPFields { state.withLock { if case .ended = $0 { trailers } else { [:] } } }

  nonisolated(nonsending) func next() async throws(DirectDNSError) -> [UInt8]? {
    guard let reading = try begin() else { return nil }
    let result = await withTaskCancellationHandler {
      await reading.result
    } onCancel: {
      reading.cancel()
    }
    return try state.withLock { state throws(DirectDNSError) in
      // `cancel()` may have been called meanwhile.
      if case .failed(let error) = state { throw error }
      switch result {
      case .success(let piece):
        state = piece == nil ? .ended : .open
        return piece
      case .failure(let error):
        let failure = Self.failure(error)
        state = .failed(failure)
        throw failure
      }
    }
  }

  /// Starts to read the next piece; nil at the end.
  private func begin() throws(DirectDNSError) -> Task<[UInt8]?, any Error>? {
    try state.withLock { [pieces] state throws(DirectDNSError) in
      switch state {
      case .open:
        let task = Task {
          let piece = try await pieces()
          // A cancelled stream ends early: that must not be taken for the end of the body.
          if piece == nil { try Task.checkCancellation() }
          return piece
        }
        state = .reading(task)
        return task
      case .reading: throw BodyReader.secondReader
      case .ended: return nil
      case .failed(let error): throw error
      }
    }
  }

  func cancel() {
    let reading = state.withLock { state -> Task<[UInt8]?, any Error>? in
      switch state {
      case .ended, .failed: return nil
      case .open, .reading:
        if case .reading(let task) = exchange(&state, with: .failed(Self.failure(CancellationError()))) { return task }
        return nil
      }
    }
    reading?.cancel()
  }

  private static func failure(_ error: any Error) -> DirectDNSError {
    if let error = error as? DirectDNSError { return error }
    if error is CancellationError {
      return DirectDNSError(.cancelled, "The response's body was cancelled.", underlying: error)
    }
    let text = DirectDNSError.sentence("The response's body ended early: \(error)")
    return DirectDNSError(.connectionLost, text, underlying: error)
  }
}

/// Reads a sequence piece by piece, for one reader.
actor SyntheticPieces<Pieces: AsyncSequence & Sendable & SendableMetatype> where Pieces.Element == [UInt8] {
  /// Nil while the next piece is awaited.
  private var iterator: Pieces.AsyncIterator?

  init(_ pieces: Pieces) { iterator = pieces.makeAsyncIterator() }

  func next() async throws -> [UInt8]? {
    guard var taken = iterator.take() else { return nil }
    defer { iterator = taken }
    return try await taken.next(isolation: self)
  }
}
