// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
internal import Synchronization

/// A response's body as it comes: pieces of bytes, each once.
///
/// The server has to wait while nobody reads, after ``DirectClientConfiguration/bufferSize`` bytes (over HTTP/2 libcurl may
/// take more: <doc:Requests>). One reader at a time: another one gets an error.
///
/// A loop that is left can be gone on with by another one, and its transfer holds a connection as long as there is a copy of
/// the body, its response or an iterator. Dropping the last one ends the transfer; ``cancel()`` ends it at once.
public struct ResponseBody: AsyncSequence, Sendable {
  /// A piece of the body.
  public typealias Element = [UInt8]
  /// Reading fails with what the library throws everywhere.
  public typealias Failure = DirectDNSError

  fileprivate enum Source: Sendable {
    case transfer(BodyReader)
    case synthetic(SyntheticBody)

    nonisolated(nonsending) func next() async throws(DirectDNSError) -> [UInt8]? {
      switch self {
      case .transfer(let reader): try await reader.next()
      case .synthetic(let body): try await body.next()
      }
    }
  }

  private let source: Source

  init(reader: BodyReader) { source = .transfer(reader) }

  private init(_ body: SyntheticBody) { source = .synthetic(body) }

  /// The transfer that brings it; nil for one that was made.
  var transfer: CurlTransfer? { if case .transfer(let reader) = source { reader.transfer } else { nil } }

  /// A body of these bytes, for a response that is made and not received: in a test, or by a protocol of your own.
  ///
  /// - Parameters:
  ///   - bytes: the bytes, in one piece.
  ///   - trailerFields: the fields behind it; none by default.
  /// - Returns: the body.
  public static func bytes(_ bytes: [UInt8], trailerFields: HTTPFields = [:]) -> ResponseBody {
    let left = Locked<[UInt8]?>(bytes.isEmpty ? nil : bytes)
    return ResponseBody(
      SyntheticBody(trailers: trailerFields) {
        left.withLock { left in
          defer { left = nil }
          return left
        }
      })
  }

  /// A body of a sequence's pieces, for a response that is made and not received: in a test, or by a protocol of your own.
  ///
  /// - Parameters:
  ///   - pieces: the bytes, each piece asked for when it is wanted. A `DirectDNSError` of theirs is the reader's as it is,
  ///     any other error is one of code `connectionLost`.
  ///   - trailerFields: the fields behind it; none by default.
  /// - Returns: the body.
  public static func stream<Pieces: AsyncSequence & Sendable & SendableMetatype>(
    _ pieces: Pieces, trailerFields: HTTPFields = [:]
  ) -> ResponseBody where Pieces.Element == [UInt8] {
    let pieces = SyntheticPieces(pieces)
    return ResponseBody(SyntheticBody(trailers: trailerFields) { try await pieces.next() })
  }

  /// Hands out the pieces that nobody has taken yet.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let source: Source

    /// The next piece; nil at the end.
    ///
    /// - Throws: why the rest does not come: `connectionLost`, `timedOut`, `cancelled` or `shutDown`.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(DirectDNSError)
      -> [UInt8]?
    {
      try await source.next()
    }

    /// The next piece; nil at the end.
    public mutating func next() async throws(DirectDNSError) -> [UInt8]? { try await source.next() }
  }

  /// Begins to read where the last reader ended.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

  /// Reads all that is left, into memory.
  ///
  /// - Parameter limit: the most bytes to read; with more, the transfer ends.
  /// - Returns: the bytes.
  /// - Throws: `bodyTooLarge` for more, or why the rest does not come.
  nonisolated(nonsending) public func collect(upTo limit: Int) async throws(DirectDNSError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await source.next() {
      guard bytes.count + piece.count <= limit else {
        cancel()
        throw DirectDNSError(
          .bodyTooLarge,
          "the response's body has more than \(limit) bytes: read it piece by piece, or raise the limit")
      }
      if bytes.isEmpty { bytes = piece } else { bytes.append(contentsOf: piece) }
    }
    return bytes
  }

  /// The most bytes that ``text(upTo:)`` reads where it is not told otherwise: 10 MiB.
  public static let textLimit = 10 << 20

  /// Reads all that is left as text in UTF-8; what is none is repaired, a byte that cannot be read becomes U+FFFD.
  ///
  /// - Parameter limit: the most bytes to read; default ``textLimit``.
  /// - Returns: the text.
  /// - Throws: as ``collect(upTo:)``.
  nonisolated(nonsending) public func text(upTo limit: Int = textLimit) async throws(DirectDNSError) -> String {
    String(decoding: try await collect(upTo: limit), as: UTF8.self)
  }

  /// The fields that followed the body; empty until it has been read to its end, and where there were none.
  public var trailerFields: HTTPFields {
    switch source {
    case .transfer(let reader):
      guard case .success(let end)? = reader.transfer.end else { return [:] }
      return FieldReader.fields(end.trailers)
    case .synthetic(let body): return body.trailerFields
    }
  }

  /// Ends the transfer; whoever reads then gets an error.
  public func cancel() {
    switch source {
    case .transfer(let reader): reader.cancel()
    case .synthetic(let body): body.cancel()
    }
  }

  /// Leaves the rest unread and keeps the connection, if the rest is short; ends the transfer otherwise.
  func discard() { if case .transfer(let reader) = source { reader.discard(upTo: Self.discardLimit) } }

  /// Reading so much of a redirect's body is cheaper than a new connection.
  private static let discardLimit = 64 * 1024
}

/// A response that is being received; whoever drops it ends the transfer.
final class BodyReader: Sendable {
  let transfer: CurlTransfer
  private let loop: Loop<CurlTransfers>
  let context: RequestContext
  private let isDiscarded = Atomic<Bool>(false)

  init(_ transfer: CurlTransfer, _ loop: Loop<CurlTransfers>, _ context: RequestContext) {
    self.transfer = transfer
    self.loop = loop
    self.context = context
  }

  deinit {
    if !transfer.hasEnded, !isDiscarded.load(ordering: .relaxed) { _ = loop.post(.cancel(transfer)) }
  }

  nonisolated(nonsending) func next() async throws(DirectDNSError) -> [UInt8]? {
    while true {
      switch transfer.take() {
      case .bytes(let bytes, let resumes):
        if resumes { _ = loop.post(.resume(transfer)) }
        return bytes
      case .end(.success): return nil
      case .end(.failure(let failure)): throw context.error(failure, inBody: true)
      case .nothingYet:
        let isAlone = await withTaskCancellationHandler {
          await transfer.waitForBody()
        } onCancel: {
          cancel()
        }
        guard isAlone else { throw Self.secondReader }
      }
    }
  }

  /// What a second reader gets.
  static var secondReader: DirectDNSError {
    DirectDNSError(.invalidRequest, "The response's body is being read already: one reader at a time.")
  }

  func cancel() { _ = loop.post(.cancel(transfer)) }

  func discard(upTo limit: Int) {
    isDiscarded.store(true, ordering: .relaxed)
    if !transfer.hasEnded { _ = loop.post(.drain(transfer, limit: limit)) }
  }
}
