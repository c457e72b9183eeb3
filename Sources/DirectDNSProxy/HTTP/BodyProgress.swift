// SPDX-License-Identifier: Apache-2.0
internal import NIOCore

/// How far a body has been passed on.
struct BodyProgress {
  let framing: BodyFraming
  private var left = 0
  private var chunks: ChunkedBody
  private(set) var isOver: Bool
  /// The bytes that were passed on.
  private(set) var passed = 0

  /// Begins.
  ///
  /// - Parameters:
  ///   - framing: how the body ends.
  ///   - isUnwrapped: whether chunks are taken off.
  init(_ framing: BodyFraming, isUnwrapped: Bool = false) {
    self.framing = framing
    chunks = ChunkedBody(isUnwrapped: isUnwrapped)
    isOver = framing == .none
    if case .length(let length) = framing { left = length }
  }

  /// Passes on what belongs to the body.
  ///
  /// - Parameters:
  ///   - buffer: what has come; what is behind the body stays in it.
  ///   - pass: takes what goes on.
  /// - Returns: whether the body is over.
  /// - Throws: what is wrong with its chunks.
  mutating func pass(_ buffer: inout ByteBuffer, _ pass: (ByteBuffer) -> Void) throws(MessageFault) -> Bool {
    guard !isOver, buffer.readableBytes > 0 else { return isOver }
    switch framing {
    case .none: isOver = true
    case .untilClose:
      passed += buffer.readableBytes
      pass(buffer)
      buffer.moveReaderIndex(to: buffer.writerIndex)
    case .length:
      let count = min(left, buffer.readableBytes)
      left -= count
      passed += count
      if let slice = buffer.readSlice(length: count) { pass(slice) }
      isOver = left == 0
    case .chunked:
      var pieces: [ChunkedBody.Piece] = []
      let count = try chunks.read(buffer.readableBytesUInt8Span, into: &pieces)
      for piece in pieces {
        switch piece {
        case .pass(let range):
          passed += range.count
          if let slice = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) { pass(slice) }
        case .end(let trailers): if !trailers.isEmpty { pass(ByteBuffer(bytes: trailers)) }
        }
      }
      buffer.moveReaderIndex(forwardBy: count)
      isOver = chunks.isOver
    }
    return isOver
  }
}
