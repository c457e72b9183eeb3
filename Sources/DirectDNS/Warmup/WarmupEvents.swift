// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// The events of a warm-up as they come, for one loop; see ``WarmupJob/events()``.
public struct WarmupEvents: AsyncSequence, Sendable {
  /// A name that is done, or an entry that is rejected.
  public typealias Element = WarmupEvent
  /// It cannot fail: what does is told by ``WarmupJob/ready``.
  public typealias Failure = Never

  /// Takes one event after the other; the warm-up waits for it until it is gone.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader

    /// The next event; nil once the warm-up has ended, or if the task was cancelled.
    public func next() async -> WarmupEvent? { await reader.channel.next() }

    /// The same, called from the actor that reads.
    public func next(isolation actor: isolated (any Actor)?) async -> WarmupEvent? { await reader.channel.next() }
  }

  /// Lives as long as somebody may read: the iterator does, even if the sequence is kept.
  fileprivate final class Reader: Sendable {
    let channel: WarmupChannel

    init(_ channel: WarmupChannel) { self.channel = channel }

    deinit { channel.abandon() }
  }

  /// Lives as long as an iterator may be made.
  private final class Offer: Sendable {
    let channel: WarmupChannel

    init(_ channel: WarmupChannel) { self.channel = channel }

    deinit { if !channel.isRead { channel.abandon() } }
  }

  private let offer: Offer

  init(_ channel: WarmupChannel) { offer = Offer(channel) }

  /// Begins to read; only the first iterator gets events.
  public func makeAsyncIterator() -> AsyncIterator {
    offer.channel.beginReading()
    return AsyncIterator(reader: Reader(offer.channel))
  }
}

/// Passes a warm-up's events to one reader, who misses none: the warm-up waits for a slow reader, but not for one who
/// has yet to begin.
final class WarmupChannel: Sendable {
  /// How many events may wait for the reader.
  static let room = 256

  private struct State {
    var events: Deque<WarmupEvent> = []
    var receiver: CheckedContinuation<WarmupEvent?, Never>?
    var senders: [CheckedContinuation<Void, Never>] = []
    /// Whether the reader has begun.
    var isRead = false
    /// Whether the warm-up no longer waits for the reader.
    var isReleased = false
    /// Whether the reader is gone.
    var isAbandoned = false
    var isEnded = false
  }

  private let state = Locked(State())

  /// Whether the reader has begun.
  var isRead: Bool { state.withLock(\.isRead) }

  /// The reader begins: from now on the warm-up waits for it.
  func beginReading() { change { $0.isRead = true } }

  /// Passes an event on, and waits while too many events wait for the reader.
  func send(_ event: WarmupEvent) async {
    let receiver = state.withLock { state -> CheckedContinuation<WarmupEvent?, Never>? in
      guard !state.isAbandoned else { return nil }
      if let receiver = state.receiver.take() { return receiver }
      state.events.append(event)
      return nil
    }
    if let receiver { return receiver.resume(returning: event) }
    guard state.withLock({ Self.isHeldBack($0) }) else { return }
    await state.wait { state, sender in
      guard Self.isHeldBack(state) else { return () }
      state.senders.append(sender)
      return nil
    }
  }

  private static func isHeldBack(_ state: State) -> Bool {
    state.isRead && !state.isReleased && !state.isAbandoned && state.events.count >= room
  }

  /// Ends the sequence after the events that wait.
  func end() { change { $0.isEnded = true } }

  /// Lets the warm-up go on without waiting for the reader, since it is to end.
  func release() { change { $0.isReleased = true } }

  /// The reader is gone: nobody gets the events any more.
  func abandon() {
    change { state in
      state.isAbandoned = true
      state.events = []
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let (receiver, senders) = state.withLock { state in
      body(&state)
      let senders = Self.isHeldBack(state) ? [] : exchange(&state.senders, with: [])
      let isOver = state.isAbandoned || state.isEnded && state.events.isEmpty
      return (isOver ? state.receiver.take() : nil, senders)
    }
    receiver?.resume(returning: nil)
    for sender in senders { sender.resume() }
  }

  /// The next event; nil after the last one, and if the task was cancelled, which is the end of the reader.
  func next() async -> WarmupEvent? {
    await withTaskCancellationHandler {
      await received()
    } onCancel: {
      abandon()
    }
  }

  private func received() async -> WarmupEvent? {
    await withCheckedContinuation { continuation in
      let (event, isNow, senders) = state.withLock {
        state -> (WarmupEvent?, Bool, [CheckedContinuation<Void, Never>]) in
        if let event = state.events.popFirst() {
          guard state.events.count <= Self.room / 2 else { return (event, true, []) }
          return (event, true, exchange(&state.senders, with: []))
        }
        guard !state.isEnded, !state.isAbandoned, state.receiver == nil else { return (nil, true, []) }
        state.receiver = continuation
        return (nil, false, [])
      }
      for sender in senders { sender.resume() }
      if isNow { continuation.resume(returning: event) }
    }
  }
}
