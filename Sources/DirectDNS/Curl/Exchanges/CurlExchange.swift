internal import Synchronization

/// One request on its way out and its response on the way in.
///
/// Shared by the loop's thread, which fills it, and by the caller's task, which empties it. What is marked so belongs to
/// the loop's thread alone; the rest is behind a lock, or constant.
@safe final class CurlExchange: @unchecked Sendable {
  enum Stage { case new, waiting, running, done }

  /// The most that is read of a response's heads and trailers together, in bytes; see ``CurlFieldAllowance``.
  static let fieldLimit = 256 * 1024

  let order: CurlOrder
  /// Called once, when it has ended; set before it is started.
  var onEnd: (@Sendable () -> Void)?

  // MARK: The loop's thread's own

  var stage = Stage.new
  var lane: CurlExchanges.Lane?
  var isCancelled = false
  var race: ConnectionAttempts?
  var attempts: [CurlAttempt] = []
  var winner: CurlAttempt?
  var failedAttempts: [CurlFailure.Attempt] = []
  var slower: [CurlHead.Slower] = []
  var forbidden: IPAddress?
  /// Whether it opens a connection for others that wait.
  var isOpening = false
  /// Whether it found no room on the connection that it was to share.
  var isTurnedAway = false
  /// Whether it has waited once more for that.
  var hasBeenPutBack = false
  /// Whether it goes onto a connection that carries others too.
  var sharesConnection = false
  /// The address that its lane counts it under.
  var line: IPAddress?
  var startedAt: Int64 = 0
  /// When something of it moved last, once it is connected.
  var movedAt: Int64 = 0
  var connectedAt: Int64 = 0
  /// How many requests had joined the lane's connections when this one opened its own; nothing if it joined one.
  var joinsAtStart: Int?
  var hasRepeated = false
  /// Whether a repetition was refused, since the request may have arrived.
  var isStrandedByRepeat = false
  /// The lines of the head as they came, and those behind the body.
  var headBytes: [UInt8] = []
  var trailerBytes: [UInt8] = []
  var fieldAllowance = CurlFieldAllowance(CurlExchange.fieldLimit)
  var isHeadComplete = false
  var hasDeliveredHead = false
  var incoming: [UInt8] = []
  /// Bytes that may still be thrown away unread; nothing while they are wanted.
  var drainLeft: Int?
  var isDirty = false
  /// How it has ended, and its head if that came with the end, until both are handed over.
  var result: Result<CurlEnd, CurlFailure>?
  var lastHead: CurlHead?
  var progress = CurlProgress()
  var progressedAt: Int64 = 0

  // MARK: Shared

  @safe private struct Shared {
    init() {
      unsafe headWaiter = nil
      unsafe bodyWaiter = nil
    }

    var headWaiter: UnsafeContinuation<Result<CurlHead, CurlFailure>, Never>?
    var body: [UInt8] = []
    /// The piece that the reader got last, if it was a long one: its room is used again once the reader has dropped it.
    var lastPiece: [UInt8] = []
    var bodyWaiter: UnsafeContinuation<Void, Never>?
    var end: Result<CurlEnd, CurlFailure>?
    var isPaused = false
  }

  private let shared: Locked<Shared>
  /// Bytes of the body that the reader has not taken.
  private let unread = Atomic<Int>(0)

  init(_ order: CurlOrder) {
    self.order = order
    shared = Locked(Shared())
  }

  // MARK: What the loop's thread does with it

  /// Whether a piece has to wait for the reader, who has not taken so many bytes yet; the reader then resumes the transfer.
  func shouldPause(adding count: Int, limit: Int) -> Bool {
    guard isFull(unread.load(ordering: .relaxed), adding: count, limit: limit) else { return false }
    return shared.withLock { shared in
      guard isFull(shared.body.count, adding: count, limit: limit) else { return false }
      shared.isPaused = true
      return true
    }
  }

  /// A piece that is larger than the limit is taken when nothing else is there.
  private func isFull(_ unread: Int, adding count: Int, limit: Int) -> Bool {
    let kept = unread + incoming.count
    return kept > 0 && kept + count > limit
  }

  /// Hands over what has come since the last time.
  func deliver(head: CurlHead? = nil, end: Result<CurlEnd, CurlFailure>? = nil) {
    var headWaiter: UnsafeContinuation<Result<CurlHead, CurlFailure>, Never>?
    var bodyWaiter: UnsafeContinuation<Void, Never>?
    shared.withLock { shared in
      if let end { shared.end = end }
      if !incoming.isEmpty {
        if shared.body.isEmpty {
          swap(&shared.body, &incoming)
        } else {
          shared.body.append(contentsOf: incoming)
        }
        incoming.removeAll(keepingCapacity: true)
        unread.store(shared.body.count, ordering: .relaxed)
      }
      if head != nil || end != nil { unsafe swap(&headWaiter, &shared.headWaiter) }
      unsafe swap(&bodyWaiter, &shared.bodyWaiter)
    }
    if let headWaiter = unsafe headWaiter {
      unsafe headWaiter.resume(returning: head.map { .success($0) } ?? .failure(CurlFailure(endedWith: end)))
    }
    unsafe bodyWaiter?.resume()
    if end != nil {
      onEnd?()
      onEnd = nil
    }
  }

  /// Bytes that wait for the reader.
  var unreadCount: Int { unread.load(ordering: .relaxed) }

  /// Whether the transfer waits for the reader.
  var isPaused: Bool { shared.withLock { $0.isPaused } }

  // MARK: What the caller's task does with it

  /// Waits for the head; `start` is called once somebody waits.
  nonisolated(nonsending) func head(_ start: () -> Void) async -> Result<CurlHead, CurlFailure> {
    await unsafe withUnsafeContinuation { continuation in
      shared.withLock { unsafe $0.headWaiter = continuation }
      start()
    }
  }

  enum Reading { case bytes([UInt8], resumes: Bool), end(Result<CurlEnd, CurlFailure>), nothingYet }

  /// Takes what is there of the body.
  func take() -> Reading {
    shared.withLock { shared in
      guard !shared.body.isEmpty else { return shared.end.map(Reading.end) ?? .nothingYet }
      var bytes: [UInt8] = []
      swap(&bytes, &shared.lastPiece)
      // One that the reader keeps is left alone, and another takes its place.
      bytes.removeAll(keepingCapacity: true)
      swap(&bytes, &shared.body)
      if bytes.count >= Self.longPiece { shared.lastPiece = bytes }
      unread.store(0, ordering: .relaxed)
      let resumes = shared.isPaused
      shared.isPaused = false
      return .bytes(bytes, resumes: resumes)
    }
  }

  /// A piece whose room is worth keeping, in bytes.
  private static let longPiece = 32 * 1024

  /// Waits until there is something to take.
  nonisolated(nonsending) func waitForBody() async {
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isReady = shared.withLock { shared in
        guard shared.body.isEmpty, shared.end == nil else { return true }
        unsafe shared.bodyWaiter = continuation
        return false
      }
      if isReady { unsafe continuation.resume() }
    }
  }

  /// How it ended, if it has.
  var end: Result<CurlEnd, CurlFailure>? { shared.withLock { $0.end } }
}

extension CurlFailure {
  /// Of an exchange that ended before its head came.
  fileprivate init(endedWith end: Result<CurlEnd, CurlFailure>?) {
    self = end?.failure ?? CurlFailure(.connectionLost("the response ended before its head"))
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
