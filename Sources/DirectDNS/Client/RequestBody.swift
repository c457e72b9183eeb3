// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The body of a request.
///
/// A replayable body is sent again if a redirect or a second attempt needs it; a stream can be sent only once.
public struct RequestBody: Sendable {
  enum Content: Sendable {
    case none
    case bytes([UInt8])
    case source(BodyUpload.Source, length: Int64?, isReplayable: Bool)
  }

  let content: Content
  /// Fields that follow the body; none by default.
  ///
  /// With them the request uses HTTP/1.1, and sends the body in chunks (RFC 9112 §7.1.2).
  public var trailerFields: HTTPFields = [:]
  /// The `Content-Type` that is sent with the body, unless the request has a field of that name.
  ///
  /// It stays with the body: it is sent again after a redirect that keeps the body, and not after one that drops it.
  ///
  /// Default: nil, for none; ``text(_:contentType:)`` and `json(_:by:)` of `DirectDNSFoundation` set it.
  public var contentType: String?

  init(content: Content, contentType: String? = nil) {
    self.content = content
    self.contentType = contentType
  }

  /// No body.
  public static let none = RequestBody(content: .none)

  /// A body of bytes, which is replayable.
  ///
  /// - Parameters:
  ///   - bytes: the bytes, such as an array or Foundation's `Data`.
  ///   - contentType: the value of ``contentType``; nil by default.
  /// - Returns: the body.
  public static func bytes(_ bytes: some Sequence<UInt8>, contentType: String? = nil) -> RequestBody {
    RequestBody(content: .bytes(Array(bytes)), contentType: contentType)
  }

  /// A body of text in UTF-8, which is replayable.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - contentType: the value of ``contentType``; nil for none.
  /// - Returns: the body.
  public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
    .bytes(Array(text.utf8), contentType: contentType)
  }

  /// A body that is read from a file while it is sent, and is replayable.
  ///
  /// - Parameters:
  ///   - path: the file; it must not change while it is sent, since its length is sent first.
  ///   - contentType: the value of ``contentType``; nil by default.
  /// - Returns: the body.
  /// - Throws: `fileUnusable` if it cannot be read, or is not a regular file.
  public static func file(_ path: String, contentType: String? = nil) throws(DirectDNSError) -> RequestBody {
    let file = SentFile(path: path)
    let length = try file.length()
    return RequestBody(
      content: .source({ write in try await file.read(length, write) }, length: length, isReplayable: true),
      contentType: contentType)
  }

  /// A body that comes as a sequence of pieces, and can be sent only once.
  ///
  /// A redirect that keeps the body is then an error, and so is another request with the same body; there is no second
  /// attempt.
  ///
  /// - Parameters:
  ///   - pieces: the bytes; the next piece is asked for when the server has taken enough of those before, by a task of its
  ///     own, which has none of the caller's task-local values.
  ///   - length: the number of bytes, if it is known. It is sent first, and fewer bytes are an error; more may not be
  ///     read. A negative one is refused when the request is sent (`invalidRequest`). Without it, the default, the body
  ///     is sent in chunks.
  ///   - contentType: the value of ``contentType``; nil by default.
  /// - Returns: the body.
  public static func stream<Pieces: AsyncSequence & Sendable & SendableMetatype>(
    _ pieces: Pieces, length: Int64? = nil, contentType: String? = nil
  ) -> RequestBody where Pieces.Element == [UInt8] {
    let isBegun = Locked(false)
    return RequestBody(
      content: .source(
        { write in
          guard !isBegun.withLock({ exchange(&$0, with: true) }) else {
            throw DirectDNSError(
              .bodyNotReplayable, "The body's stream was sent already. Make a new body, or one that can be replayed.")
          }
          try await feed(pieces, write)
        }, length: length, isReplayable: false), contentType: contentType)
  }

  /// A body that comes as a sequence of pieces, which is made anew each time that the body is sent.
  ///
  /// - Parameters:
  ///   - length: the number of bytes, as for ``stream(_:length:contentType:)``; nil by default.
  ///   - contentType: the value of ``contentType``; nil by default.
  ///   - make: makes the sequence, in a task of its own, which has none of the caller's task-local values. It may be called
  ///     again while the sequence before is still being asked for a piece, of which nothing is sent any more. What it
  ///     throws fails the request, with the code `bodyFailed`.
  /// - Returns: the body.
  public static func replayable<Pieces: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, contentType: String? = nil, _ make: @escaping @Sendable () async throws -> Pieces
  ) -> RequestBody where Pieces.Element == [UInt8] {
    RequestBody(
      content: .source({ try await feed(make(), $0) }, length: length, isReplayable: true), contentType: contentType)
  }

  /// The same body, sent in chunks although its length may be known (RFC 9112 §7.1); over HTTP/2 without that length.
  package var chunked: RequestBody {
    let unmeasured: Content =
      switch content {
      case .none: .none
      case .bytes(let bytes): .source({ write in _ = await write(bytes) }, length: nil, isReplayable: true)
      case .source(let source, _, let isReplayable): .source(source, length: nil, isReplayable: isReplayable)
      }
    var body = RequestBody(content: unmeasured, contentType: contentType)
    body.trailerFields = trailerFields
    return body
  }

  private static func feed<Pieces: AsyncSequence & SendableMetatype>(
    _ pieces: Pieces, _ write: @Sendable ([UInt8]) async -> Bool
  ) async throws where Pieces.Element == [UInt8] {
    for try await piece in pieces {
      guard await write(piece) else { return }
    }
  }

  /// The `Content-Type` that is sent if the request has none of its own; nil without a body.
  var sentContentType: String? {
    guard kind != .none, let contentType, !contentType.isEmpty else { return nil }
    // `HTTPField` replaces characters by blanks that no field may have, such as line ends.
    return HTTPField(name: .contentType, value: contentType).value
  }

  /// What a redirect has to know about it.
  var kind: Redirect.Body {
    switch content {
    case .none: .none
    case .bytes: .replayable
    case .source(_, _, let isReplayable): isReplayable ? .replayable : .oneShot
    }
  }

  /// Whether a body, or at least a length of 0, is sent: a server that expects content has to be told that there is
  /// none (RFC 9110 §8.6).
  func isSent(with method: HTTPRequest.Method) -> Bool {
    kind != .none || method == .post || method == .put || method == .patch
  }

  /// The body of one transfer.
  func sent(with method: HTTPRequest.Method, length: Int64?) -> TransferRequest.Body {
    switch content {
    case .none: isSent(with: method) ? .bytes([]) : .none
    case .bytes(let bytes): .bytes(bytes)
    case .source(let source, _, let isReplayable):
      .pulled(BodyUpload(length: length, canRestart: isReplayable, source: source))
    }
  }
}

extension BlockingPool {
  /// Reads and writes bodies.
  static let files = BlockingPool("files", width: 4)
}

/// A file that is sent; it is read piece by piece on threads that may block.
private struct SentFile: Sendable {
  private static let pieceSize: Int64 = 128 * 1024

  let path: String

  func length() throws(DirectDNSError) -> Int64 {
    guard ReadableFile.isReadable(path) else { throw unusable("cannot be read") }
    guard let length = try? ReadableFile(path, waits: false).length else {
      throw unusable("is not a regular file")
    }
    return length
  }

  /// Writes so many bytes from the beginning, or fewer if no more are wanted.
  func read(_ length: Int64, _ write: @Sendable ([UInt8]) async -> Bool) async throws {
    // It may have been replaced by something else, such as a FIFO, which must not block.
    guard let file = try? ReadableFile(path, waits: false) else { throw unusable("cannot be opened") }
    guard file.length != nil else { throw unusable("is not a regular file any more") }
    var left = length
    while left > 0 {
      let size = Int(min(left, Self.pieceSize))
      let piece = await BlockingPool.files.run { (try? file.read(size)) ?? [] }
      guard !piece.isEmpty else { throw unusable("became shorter while it was sent") }
      left -= Int64(piece.count)
      guard await write(piece) else { return }
    }
  }

  private func unusable(_ reason: String) -> DirectDNSError {
    DirectDNSError(.fileUnusable, "The file \(path) \(reason). Check its path and permissions.")
  }
}
