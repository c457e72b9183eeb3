// SPDX-License-Identifier: Apache-2.0
package import DirectDNS
package import DirectDNSConfiguration
internal import Synchronization

extension CommandContext {
  /// What a resolver is needed for; it writes to the context that it is given.
  typealias ResolverUse = @Sendable (DirectResolver, CommandContext) async throws(CommandError) -> ExitStatus

  /// The store of such settings; nil if answers are not stored.
  package func store(of settings: DirectSettings) throws(CommandError) -> (any AnswerStore)? {
    guard let setting = settings.store else { return nil }
    return try openStore(setting)
  }

  /// Makes a resolver for a body, and shuts it down so that its store has what was learned, after an interrupt too.
  ///
  /// - Parameters:
  ///   - settings: the resolver's settings.
  ///   - filled: a store that the body is meant to fill: it is a failure if an answer cannot be stored there; nil for
  ///     the store of the settings.
  ///   - body: uses the resolver.
  /// - Returns: what `body` returns, or the signal's status if one came first.
  /// - Throws: if there can be no such resolver, and what `body` throws.
  func withResolver(
    _ settings: DirectSettings, storing filled: (any AnswerStore)? = nil, _ body: @escaping ResolverUse
  ) async throws(CommandError) -> ExitStatus {
    let store = filled == nil ? try store(of: settings) : filled
    let signal = SignalWait()
    defer { signal.cancel() }
    return try await withResolver(
      settings.forOneRun, store, { filled == nil ? .answered : Self.exitStatus(of: $0) }
    ) { resolver throws(CommandError) in
      // Without a store there is nothing to save: a signal ends the process at once.
      store == nil ? try await body(resolver, self) : try await untilInterrupted(resolver, signal, body)
    }
  }

  /// Answers that could not be stored are a failure, if storing them was asked for.
  static func exitStatus(of flush: StoreFlush) -> ExitStatus { flush.unwritten > 0 ? .streams : .answered }

  /// Makes a resolver for a command that keeps running and listens to signals itself.
  ///
  /// - Parameters:
  ///   - settings: the resolver's settings.
  ///   - store: where answers are stored; nil for nowhere.
  ///   - status: the status for answers that could not be stored.
  ///   - body: uses the resolver.
  /// - Returns: what `body` returns.
  /// - Throws: if there can be no such resolver, and what `body` throws.
  package func withResolver(
    _ settings: DirectSettings, _ store: (any AnswerStore)?, _ status: (StoreFlush) -> ExitStatus = { _ in .answered },
    _ body: (DirectResolver) async throws(CommandError) -> ExitStatus
  ) async throws(CommandError) -> ExitStatus {
    var configuration = settings.resolver
    let notice = StoreNotice(self)
    if let store {
      configuration.store = store
      configuration.observer = notice.observer(passingTo: configuration.observer)
    }
    let resolver: DirectResolver
    do throws(DirectDNSError) {
      resolver = try makeResolver(configuration, settings.systemServers)
    } catch {
      throw CommandError(error)
    }
    let outcome: Result<ExitStatus, CommandError>
    do throws(CommandError) { outcome = .success(try await body(resolver)) } catch { outcome = .failure(error) }
    // A refresh in the background would never finish in a process that ends with the answer. A process that is told to
    // end does not wait for it.
    let isToldToEnd = [.success(.interrupted), .success(.terminated)].contains(outcome)
    if store != nil, !isToldToEnd { await resolver.finishQueries(within: configuration.cache.clientResponseTimeout) }
    let flush = await resolver.shutdown(flushingWithin: DirectResolver.flushLimit)
    notice.ended(flush)
    return try outcome.get().joined(status(flush))
  }

  /// Runs a body until it ends or a signal comes, after which it can write nothing more.
  ///
  /// Its task is not awaited: the process ends before the task could.
  private func untilInterrupted(
    _ resolver: DirectResolver, _ signal: SignalWait, _ body: @escaping ResolverUse
  ) async throws(CommandError) -> ExitStatus {
    let gate = OutputGate()
    let guarded = gate.guarding(self)
    let (ends, end) = AsyncStream.makeStream(of: Result<ExitStatus, CommandError>.self)
    Task {
      let outcome: Result<ExitStatus, CommandError>
      do throws(CommandError) { outcome = .success(try await body(resolver, guarded)) } catch {
        outcome = .failure(error)
      }
      // Behind the closed gate it ends as if its reader had gone, and could do so before the signal's status is there.
      if !gate.isClosed { end.yield(outcome) }
    }
    signal.wait {
      guard let status = await interruption() else { return }
      gate.close()
      end.yield(.success(status))
    }
    for await first in ends { return try first.get() }
    return .answered
  }
}

/// Listens to signals until the store has what was learned: one that comes while it is written does not end the process
/// either.
private final class SignalWait: Sendable {
  private let task = Mutex<Task<Void, Never>?>(nil)

  func wait(_ body: @escaping @Sendable () async -> Void) { task.withLock { $0 = Task { await body() } } }

  func cancel() { task.withLock { $0?.cancel() } }
}

extension CommandError {
  /// Why there is no resolver or no client.
  init(_ error: DirectDNSError) {
    self.init([.fileUnusable, .cannotListen].contains(error.code) ? .streams : .configuration, error.description)
  }

  /// Reports it on standard error, unless only the reader has gone.
  func status(in context: CommandContext) -> ExitStatus {
    if status != .closedPipe { context.reportError(message) }
    return status
  }

  /// The same, with the way to the command's help behind a mistake in its use.
  package func status(in context: CommandContext, of command: String) -> ExitStatus {
    let hint = "\(DirectDNSError.sentence(message)) See dnsctl \(command) --help."
    return (status == .usage ? CommandError(status, hint) : self).status(in: context)
  }
}

extension DirectSettings {
  /// The same for a command that ends with its answers: its lookups wait for the store for a second, at most a fifth of
  /// their time.
  ///
  /// The first one opens the store as well, which on a busy machine takes longer than the library's 50 ms, and most such
  /// commands have no other.
  var forOneRun: DirectSettings {
    var settings = self
    settings.resolver.storeTimeout = min(.seconds(1), resolver.timeout / 5)
    return settings
  }
}
