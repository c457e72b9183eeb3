// SPDX-License-Identifier: Apache-2.0
internal import NIOCore

/// How far a body has been passed on.
struct BodyProgress {
  /// Up to so many pieces are passed on without being copied.
  private static let fewPieces = 4

  let framing: BodyFraming
  private var left = 0
  private var chunks: ChunkedBody
  private(set) var isOver: Bool
  /// The bytes that were passed on.
  private(set) var passed = 0
  /// The bytes of the body alone, without the chunks' sizes and trailers.
  var dataCount: Int { framing == .chunked ? chunks.dataCount : passed }

  /// Creates it at the first byte of a body.
  ///
  /// - Parameters:
  ///   - framing: how the body ends.
  ///   - kind: of what it is the body; a request's by default.
  ///   - isDecoded: whether the chunked coding is removed.
  ///   - head: the head before it, whose `Connection` may name trailers.
  init(
    _ framing: BodyFraming, of kind: HeadParser.Kind = .request, isDecoded: Bool = false, below head: MessageHead? = nil
  ) {
    self.framing = framing
    let dropped = framing == .chunked ? head.map { ConnectionNames.set(of: $0) } ?? [] : []
    chunks = ChunkedBody(kind, isDecoded: isDecoded, without: dropped)
    isOver = framing == .none
    if case .length(let length) = framing { left = length }
  }

  /// Passes on what belongs to the body.
  ///
  /// - Parameters:
  ///   - buffer: what has come; what comes after the body stays in it.
  ///   - pass: called with what is to be passed on; nothing that it calls may ask for this progress.
  /// - Returns: whether the body is over.
  /// - Throws: what is wrong with its chunks, once what comes before that was passed on.
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
      let read = Result { () throws(MessageFault) in
        try chunks.read(buffer.readableBytesUInt8Span, into: &pieces)
      }
      // Many small pieces are joined, since each costs a write.
      var together: ByteBuffer? = pieces.count > Self.fewPieces ? ByteBuffer() : nil
      for piece in pieces {
        var part: ByteBuffer
        switch piece {
        case .pass(let range):
          passed += range.count
          part = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
        case .end(let trailers): part = ByteBuffer(bytes: trailers)
        }
        if part.readableBytes == 0 { continue }
        if together?.writeBuffer(&part) == nil { pass(part) }
      }
      if let together { pass(together) }
      buffer.moveReaderIndex(forwardBy: try read.get())
      isOver = chunks.isOver
    }
    return isOver
  }
}
