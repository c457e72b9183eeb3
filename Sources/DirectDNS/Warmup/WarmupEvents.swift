// SPDX-License-Identifier: Apache-2.0
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
