// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// Reports the problems of a store on standard error, each one once an hour: for a command that goes on, one that comes
/// back days later is a new one.
final class StoreNotice: Sendable {
  static let pause = Duration.seconds(3600)

  private let context: CommandContext
  private let said = Mutex<[String: ResolverInstant]>([:])

  init(_ context: CommandContext) { self.context = context }

  /// An observer of a resolver's store, which passes events on to another observer.
  func observer(
    passingTo next: (@Sendable (ResolverEvent) -> Void)?
  ) -> @Sendable (ResolverEvent) -> Void {
    { [self] event in
      if case .store(_, .failed(let error)) = event { say(error.message) }
      next?(event)
    }
  }

  /// Reports how many answers a resolver could not store before it ended.
  func ended(_ flush: StoreFlush) {
    guard flush.unwritten > 0 else { return }
    let count = flush.unwritten == 1 ? "1 answer was" : "\(flush.unwritten) answers were"
    guard let reason = flush.reason else {
      let limit = DirectResolver.flushLimit.components.seconds
      return context.reportError("\(count) not stored: there was no time left after \(limit) s.")
    }
    say(reason.message)
    context.reportError("\(count) not stored.")
  }

  private func say(_ message: String) {
    let now = context.clock.now
    said.withLock { said in
      if let last = said[message], now - last < Self.pause { return }
      said[message] = now
      context.reportError(message)
    }
  }
}
