// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Foundation

/// The pieces of a stream, read when they are wanted.
///
/// A stream may block, so that each has a queue of its own, and no thread that others need.
struct BodyStream: AsyncSequence, Sendable {
  private let reader: Reader

  /// - Throws: `bodyNotReplayable` for a stream that was opened before.
  init(_ stream: InputStream) throws(DirectDNSError) {
    try Reader.check(stream)
    reader = Reader(stream)
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader

    func next() async throws -> [UInt8]? { try await reader.next() }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

  // The stream is used on the queue alone.
  fileprivate final class Reader: @unchecked Sendable {
    private static let pieceSize = 64 * 1024
    private let stream: InputStream
    private var hasBegun = false
    private let queue = DispatchQueue(label: "DirectDNS.BodyStream")

    init(_ stream: InputStream) { self.stream = stream }

    // One that was not begun may still go with another request.
    deinit { if hasBegun { stream.close() } }

    func next() async throws -> [UInt8]? {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { continuation.resume(with: Result { try self.read() }) }
      }
    }

    /// What is left of a stream that was read, which may be nothing, would go out as the whole body.
    static func check(_ stream: InputStream) throws(DirectDNSError) {
      guard stream.streamStatus != .notOpen else { return }
      throw DirectDNSError(
        .bodyNotReplayable,
        "The request's httpBodyStream was opened before: give each request a stream of its own that is not open, or "
          + "httpBody.")
    }

    private func read() throws -> [UInt8]? {
      if !hasBegun {
        // Another request may have begun to read it while this one waited for its connection.
        try Self.check(stream)
        stream.open()
        hasBegun = true
      }
      var failed = false
      let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        let read = unsafe stream.read(start, maxLength: Self.pieceSize)
        failed = read < 0
        count = Swift.max(read, 0)
      }
      if failed { throw stream.streamError ?? CocoaError(.fileReadUnknown) }
      return piece.isEmpty ? nil : piece
    }
  }
}
