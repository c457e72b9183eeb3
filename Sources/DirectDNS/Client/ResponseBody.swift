// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
internal import Synchronization

/// A response's body, as a sequence of pieces that can be read while they come, each of them once.
///
/// If nobody reads, the server has to wait after ``DirectClientConfiguration/bufferSize`` bytes (over HTTP/2 libcurl
/// may take more: <doc:Requests>). There can be one reader at a time; a second one gets an error.
///
/// After a loop that was left early, another one can go on reading. The transfer keeps its connection as long as there
/// is a copy of the body, of its response, or of an iterator. It ends when the last one is dropped, or at once by
/// ``cancel()``.
public struct ResponseBody: AsyncSequence, Sendable {
  /// A piece of the body.
  public typealias Element = [UInt8]
  /// The error that reading throws.
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

    /// The next piece, or the end, if it is there; nil if it has to be waited for.
    func ready() throws(DirectDNSError) -> BodyReader.Ready? {
      if case .transfer(let reader) = self { try reader.ready() } else { nil }
    }
  }

  private let source: Source

  init(reader: BodyReader) { source = .transfer(reader) }

  private init(_ body: SyntheticBody) { source = .synthetic(body) }

  /// The transfer that receives it; nil for a body that is not received.
  var transfer: CurlTransfer? { if case .transfer(let reader) = source { reader.transfer } else { nil } }

  /// A body of bytes, for a response that is not received: in a test, or in a layer of your own above the client.
  ///
  /// - Parameters:
  ///   - bytes: the bytes, which are one piece.
  ///   - trailerFields: the fields that follow it; none by default.
  /// - Returns: the body.
  public static func bytes(_ bytes: [UInt8], trailerFields: HTTPFields = [:]) -> ResponseBody {
    let left = Locked<[UInt8]?>(bytes.isEmpty ? nil : bytes)
    return ResponseBody(SyntheticBody(trailers: trailerFields) { left.withLock { $0.take() } })
  }

  /// A body that comes as a sequence of pieces, for a response that is not received: in a test, or in a layer of your
  /// own.
  ///
  /// - Parameters:
  ///   - pieces: the bytes; a piece is asked for when the reader wants it. The reader gets an error of the sequence as
  ///     it is if that is a `DirectDNSError`; any other one becomes an error with the code `connectionLost`.
  ///   - trailerFields: the fields that follow it; none by default.
  /// - Returns: the body.
  public static func stream<Pieces: AsyncSequence & Sendable & SendableMetatype>(
    _ pieces: Pieces, trailerFields: HTTPFields = [:]
  ) -> ResponseBody where Pieces.Element == [UInt8] {
    let pieces = SyntheticPieces(pieces)
    return ResponseBody(SyntheticBody(trailers: trailerFields) { try await pieces.next() })
  }

  /// Reads the pieces that have not been read yet.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let source: Source

    /// The next piece; nil at the end.
    ///
    /// - Throws: why the rest does not come: `connectionLost`, `malformedResponse`, `timedOut`, `fieldsTooLarge` for
    ///   trailers, `bodyTooLarge` for what decodes to more than can be kept, `bodyFailed` or the error of the request's
    ///   body if that is still being sent, `cancelled` or `shutDown`; `invalidRequest` for a second reader.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(DirectDNSError)
      -> [UInt8]?
    {
      // Most pieces are there, and need none of what waiting costs.
      if let ready = try source.ready() { return ready.piece }
      return try await source.next()
    }

    /// The next piece; nil at the end.
    public mutating func next() async throws(DirectDNSError) -> [UInt8]? {
      if let ready = try source.ready() { return ready.piece }
      return try await source.next()
    }
  }

  /// Makes an iterator, which begins where the last reader has stopped.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

  /// Reads the rest of the body into memory.
  ///
  /// - Parameter limit: the most bytes to read.
  /// - Returns: the bytes.
  /// - Throws: `bodyTooLarge` if there are more, which ends the transfer; or why the rest does not come.
  nonisolated(nonsending) public func collect(upTo limit: Int) async throws(DirectDNSError) -> [UInt8] {
    var bytes: [UInt8] = []
    var pieces = makeAsyncIterator()
    while let piece = try await pieces.next() {
      guard bytes.count + piece.count <= limit else {
        cancel()
        throw tooLarge(limit)
      }
      if bytes.isEmpty { bytes = piece } else { bytes.append(contentsOf: piece) }
    }
    return bytes
  }

  /// The error of a reader that takes no more than `limit` bytes.
  func tooLarge(_ limit: Int) -> DirectDNSError {
    let body = if case .transfer(let reader) = source { reader.context.body } else { "The response's body" }
    return DirectDNSError(
      .bodyTooLarge, "\(body) has more than \(limit) bytes: read it piece by piece, or raise the limit."
    ).reachingServer
  }

  /// The most bytes that ``text(upTo:)`` reads by default: 10 MiB.
  public static let textLimit = 10 << 20

  /// Reads the rest of the body as text in UTF-8; invalid bytes are replaced by U+FFFD.
  ///
  /// - Parameter limit: the most bytes to read; default ``textLimit``.
  /// - Returns: the text.
  /// - Throws: as ``collect(upTo:)``.
  nonisolated(nonsending) public func text(upTo limit: Int = textLimit) async throws(DirectDNSError) -> String {
    String(decoding: try await collect(upTo: limit), as: UTF8.self)
  }

  /// The fields that followed the body; empty if there were none, and until the body has been read to its end.
  public var trailerFields: HTTPFields {
    switch source {
    case .transfer(let reader):
      guard case .success(let trailers)? = reader.transfer.end else { return [:] }
      return FieldReader.fields(trailers)
    case .synthetic(let body): return body.trailerFields
    }
  }

  /// Ends the transfer; reading then throws an error, unless the whole body has come already.
  public func cancel() {
    switch source {
    case .transfer(let reader): reader.cancel()
    case .synthetic(let body): body.cancel()
    }
  }

  /// Leaves the rest unread: if it is short, it is read and thrown away in order to keep the connection; otherwise the
  /// transfer ends.
  package func discard() { if case .transfer(let reader) = source { reader.discard(upTo: Self.discardLimit) } }

  /// Does what ``discard()`` does, and waits until it is done: half a second at most.
  nonisolated(nonsending) func drain() async {
    if case .transfer(let reader) = source { await reader.drain(upTo: Self.discardLimit) }
  }

  /// Up to so many bytes, reading the rest is cheaper than a new connection.
  private static let discardLimit = 64 * 1024
}

/// Reads the body of a transfer; the transfer ends when the reader is dropped.
final class BodyReader: Sendable {
  /// What there is to read without waiting.
  struct Ready {
    /// The piece; nil at the end.
    let piece: [UInt8]?
  }

  let transfer: CurlTransfer
  private let loop: Loop<CurlTransfers>
  let context: RequestContext
  private let isDiscarded = Atomic<Bool>(false)

  init(_ transfer: CurlTransfer, _ loop: Loop<CurlTransfers>, _ context: RequestContext) {
    self.transfer = transfer
    self.loop = loop
    self.context = context
  }

  deinit { if !isDiscarded.load(ordering: .relaxed) { cancel() } }

  /// The next piece, or the end, if it is there; nil if it has to be waited for.
  ///
  /// The transfer of a task that was cancelled ends; what has come of it is still handed out.
  func ready() throws(DirectDNSError) -> Ready? {
    // Whoever finds something to read each time never waits, and would never hear of it.
    if Task.isCancelled { cancel() }
    switch transfer.take() {
    case .bytes(let bytes, let resumes):
      if resumes { _ = loop.post(.resume(transfer)) }
      return Ready(piece: bytes)
    case .end(.success): return Ready(piece: nil)
    case .end(.failure(let failure)): throw context.error(failure, inBody: true)
    case .nothingYet: return nil
    }
  }

  nonisolated(nonsending) func next() async throws(DirectDNSError) -> [UInt8]? {
    while true {
      if let ready = try ready() { return ready.piece }
      let isAlone = await withTaskCancellationHandler {
        await transfer.waitForBody()
      } onCancel: {
        cancel()
      }
      guard isAlone else { throw Self.secondReader }
    }
  }

  static var secondReader: DirectDNSError {
    DirectDNSError(.invalidRequest, "The response's body is being read already: one reader at a time.")
  }

  func cancel() { if !transfer.hasEnded { _ = loop.post(.cancel(transfer)) } }

  func discard(upTo limit: Int) {
    isDiscarded.store(true, ordering: .relaxed)
    if !transfer.hasEnded { _ = loop.post(.drain(transfer, limit: limit)) }
  }

  nonisolated(nonsending) func drain(upTo limit: Int) async {
    discard(upTo: limit)
    while !transfer.hasEnded, (try? await next()) != nil {}
  }
}
