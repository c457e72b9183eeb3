// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import Synchronization

/// One request on its way out, and its response on the way in.
///
/// Shared by the loop's thread, which fills it, and the caller's task, which empties it. The properties of one section
/// belong to the loop's thread; the others are constant or behind a lock.
@safe final class CurlTransfer: @unchecked Sendable {
  /// Where the bytes of the response's body go.
  enum Sink {
    case reader
    /// Nowhere: so many bytes may still be read and thrown away, in order to keep the connection.
    case drain(left: Int)
  }

  /// What is to be delivered at the end of the turn.
  struct Pending {
    /// Whether the transfer is among ``PendingDeliveries``.
    var isDue = false
    var head: TransferHead?
    var end: Result<[UInt8], TransferFailure>?
  }

  let request: TransferRequest
  /// Called once when it has ended; set before it is started.
  var onEnd: (@Sendable () -> Void)?

  // MARK: Of the loop's thread only

  var place = CurlPlace<CurlTransfers.Machine.TransferID>.new
  /// The attempt that carries it, once one does.
  var carrier: ConnectAttempt?
  var incoming: [UInt8] = []
  var sink = Sink.reader
  var pending = Pending()
  var progress = TransferProgress()
  var progressedAt: Int64 = 0

  // MARK: Shared

  @safe struct Shared {
    init() {
      unsafe headWaiter = nil
      unsafe bodyWaiter = nil
    }

    var headWaiter: UnsafeContinuation<Void, Never>?
    var bodyWaiter: UnsafeContinuation<Void, Never>?
    var head: TransferHead?
    var body = BodyBuffer()
    /// The trailer fields, as they came; or why the response is not whole.
    var end: Result<[UInt8], TransferFailure>?
  }

  let shared: Locked<Shared>
  /// Bytes of the body that the reader has not taken.
  let unread = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)

  init(_ request: TransferRequest) {
    self.request = request
    shared = Locked(Shared())
  }

  // MARK: Called by the loop's thread

  /// Whether libcurl has to pause before a piece of the body; the reader then resumes the transfer.
  func pauses(adding count: Int, limit: Int) -> Bool {
    let kept = incoming.count
    guard BodyBuffer.isFull(unread.load(ordering: .relaxed) + kept, adding: count, limit: limit) else { return false }
    return shared.withLock { $0.body.pauses(adding: count, kept: kept, limit: limit) }
  }

  /// Delivers what has come since the last time.
  ///
  /// - Returns: the tasks that wait for it, which have to be resumed.
  func deliver(head: TransferHead? = nil, end: Result<[UInt8], TransferFailure>? = nil) -> Waiters {
    var waiters = Waiters()
    shared.withLock { shared in
      if let head { shared.head = head }
      if let end {
        shared.end = end
        isOver.store(true, ordering: .releasing)
      }
      if !incoming.isEmpty {
        shared.body.append(&incoming)
        unread.store(shared.body.bytes.count, ordering: .relaxed)
      }
      if head != nil || end != nil { unsafe waiters.head = shared.headWaiter.take() }
      unsafe waiters.body = shared.bodyWaiter.take()
    }
    if end != nil {
      onEnd?()
      onEnd = nil
    }
    return waiters
  }

  /// Reports how many bytes were sent and received, at most ten times a second, and at the end.
  func reportProgress(at now: Int64, isLast: Bool) {
    guard let report = request.watcher.progress, let carrier else { return }
    guard isLast || now - progressedAt >= Self.progressInterval else { return }
    progressedAt = now
    let expected = carrier.handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    progress.expected = expected < 0 ? nil : expected
    // libcurl has a copy of a small body, and calls nobody for its pieces.
    if request.isInline { progress.sent = carrier.handle.offset(CURLINFO_SIZE_UPLOAD_T) }
    report(progress)
  }

  /// Milliseconds between two reports.
  private static let progressInterval: Int64 = 100

  /// The tasks that wait for what was delivered.
  @safe struct Waiters: Sendable {
    // Each is resumed once, by whoever took it out of the transfer.
    fileprivate var head: UnsafeContinuation<Void, Never>?
    fileprivate var body: UnsafeContinuation<Void, Never>?

    fileprivate init() {
      unsafe head = nil
      unsafe body = nil
    }

    var isEmpty: Bool { unsafe head == nil && body == nil }

    func resume() {
      unsafe head?.resume()
      unsafe body?.resume()
    }
  }

  // MARK: Called by the caller's task

  /// Waits for the head, or for an end without one; `start` is called as soon as the continuation is set.
  nonisolated(nonsending) func waitForHead(_ start: () -> Void) async {
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      shared.withLock { unsafe $0.headWaiter = continuation }
      start()
    }
  }

  /// Takes the head; the failure if there is none.
  func takeHead() -> Result<TransferHead, TransferFailure> {
    // Taken under the lock, so that the thread sanitizer sees that one thread passes it to another.
    shared.withLock { shared in
      shared.head.take().map { .success($0) } ?? .failure(Self.failure(endedWith: shared.end))
    }
  }

  /// The failure of a transfer that ended before its head came.
  private static func failure(endedWith end: Result<[UInt8], TransferFailure>?) -> TransferFailure {
    if case .failure(let failure)? = end { return failure }
    return TransferFailure(.connectionLost("the response ended before its head"))
  }

  /// What there is to read: bytes, and whether the transfer has to be resumed; the end; or nothing at the moment.
  enum Reading { case bytes([UInt8], resumes: Bool), end(Result<[UInt8], TransferFailure>), nothingYet }

  /// Takes the part of the body that is there.
  func take() -> Reading {
    shared.withLock { shared in
      guard let (bytes, resumes) = shared.body.take() else { return shared.end.map(Reading.end) ?? .nothingYet }
      unread.store(0, ordering: .relaxed)
      return .bytes(bytes, resumes: resumes)
    }
  }

  /// Waits until there is something to read.
  ///
  /// - Returns: false, at once, if another task is waiting already.
  nonisolated(nonsending) func waitForBody() async -> Bool {
    var isAlone = true
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let resumesAtOnce = shared.withLock { shared in
        guard shared.body.bytes.isEmpty, shared.end == nil else { return true }
        isAlone = unsafe shared.bodyWaiter == nil
        if isAlone { unsafe shared.bodyWaiter = continuation }
        return !isAlone
      }
      if resumesAtOnce { unsafe continuation.resume() }
    }
    return isAlone
  }

  var hasEnded: Bool { isOver.load(ordering: .acquiring) }

  var end: Result<[UInt8], TransferFailure>? { shared.withLock { $0.end } }
}

/// A response's head, and how it was received.
///
/// A class, since the loop's thread passes it to the caller's task: a copy would cost a retain for each part.
final class TransferHead: Sendable {
  /// The status line and the fields, as they came.
  let lines: HeadLines
  let connection: TransferConnection
  /// How long connecting took, and then the TLS handshake; nil for a reused connection.
  let connect: Duration?
  let tls: Duration?
  /// From when the request got its connection to the head.
  let wait: Duration
  /// Whether the whole body was sent, over HTTP/1.1, of a request that was to wait for the server's permission.
  let hasSentBody: Bool

  init(
    lines: consuming HeadLines, connection: TransferConnection, connect: Duration?, tls: Duration?, wait: Duration,
    hasSentBody: Bool
  ) {
    self.lines = lines
    self.connection = connection
    self.connect = connect
    self.tls = tls
    self.wait = wait
    self.hasSentBody = hasSentBody
  }
}
