internal import DirectDNS
internal import DirectDNSConfiguration

extension CommandContext {
  /// Lends a resolver, and ends it in such a way that its store has what was learned.
  ///
  /// - Parameters:
  ///   - settings: what it is made of.
  ///   - body: what it is needed for.
  /// - Returns: what `body` returns.
  /// - Throws: that there can be no such resolver, or what `body` throws.
  func withResolver(
    _ settings: DirectSettings, _ body: (Resolver) async throws(SettingsError) -> ExitStatus
  ) async throws(SettingsError) -> ExitStatus {
    let store = try settings.store.flatMap { setting throws(SettingsError) in try openStore(setting) }
    return try await withResolver(settings, store, { _ in .answered }, body)
  }

  /// Lends a resolver for the sake of what is stored: it is a failure if that cannot be.
  func withResolver(
    _ settings: DirectSettings, storing store: any AnswerStore,
    _ body: (Resolver) async throws(SettingsError) -> ExitStatus
  ) async throws(SettingsError) -> ExitStatus {
    try await withResolver(settings, store, { $0.unwritten > 0 ? .streams : .answered }, body)
  }

  private func withResolver(
    _ settings: DirectSettings, _ store: (any AnswerStore)?, _ judge: (StoreFlush) -> ExitStatus,
    _ body: (Resolver) async throws(SettingsError) -> ExitStatus
  ) async throws(SettingsError) -> ExitStatus {
    var configuration = settings.resolver
    let notice = StoreNotice(self)
    if let store {
      configuration.store = store
      configuration.observer = notice.hearing(configuration.observer)
    }
    let resolver: Resolver
    do throws(DirectDNSError) {
      resolver = try makeResolver(configuration, settings.systemServers)
    } catch {
      throw SettingsError(error)
    }
    let outcome: Result<ExitStatus, SettingsError>
    do throws(SettingsError) { outcome = .success(try await body(resolver)) } catch { outcome = .failure(error) }
    // A refresh behind an answer would never come about in a process that ends with it.
    if store != nil { await resolver.finishQueries(within: configuration.cache.patience) }
    let flush = await resolver.shutDown(flushingWithin: Resolver.flushLimit)
    notice.ended(flush)
    return try outcome.get().joined(judge(flush))
  }
}

extension SettingsError {
  /// Why there can be no resolver or no client.
  init(_ error: DirectDNSError) {
    self.init(error.code == .fileUnusable ? .streams : .configuration, error.description)
  }

  /// Says so on standard error.
  func status(in context: CommandContext, of command: String) -> ExitStatus {
    context.complain(status == .usage ? "\(message) See dnsctl \(command) --help." : message)
    return status
  }
}
