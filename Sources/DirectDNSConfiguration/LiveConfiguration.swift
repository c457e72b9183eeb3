// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Logging

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A configuration file that holds while a process runs: resolvers and clients are kept to it, and go on by another state
/// of it without losing what they know.
///
/// Run it as a service: it reads the file again when it has changed or when the process gets SIGHUP. A file that cannot
/// be used changes nothing; the log says what is wrong with it, and every change that was made. What the file is not to
/// blame for, such as a lack of descriptors or a file of `ca` that has yet to come, is tried again at each look, and logged
/// once.
///
/// ```swift
/// let live = try LiveConfiguration(path: "/etc/pipeline/directdns.json5")
/// let resolver = try live.makeResolver()
/// let client = try live.makeClient(resolver: resolver)
/// try await ServiceGroup(services: [live, client, pipeline], logger: logger).run()
/// ```
public final class LiveConfiguration: Sendable {
  /// Makes settings of a file's bytes.
  typealias Reading = @Sendable ([UInt8], _ name: String) throws(ConfigurationFault) -> DirectSettings

  /// Hears of each further reading, and of what holds behind it.
  package typealias Observer = @Sendable (Result<SettingsDifference, DirectDNSError>, DirectSettings) -> Void

  private struct State {
    var settings: DirectSettings
    /// What the file was when it was last read, for better or worse.
    var stamp: FileStamp?
    /// Why that was in vain, where the next try may bring something else though the file is the same.
    var passing: String?
    var kept = KeptObjects()
  }

  /// How often the file is looked at.
  let interval: Duration
  let clock: any ResolverClock
  private let source: ConfigurationPath
  private let reading: Reading
  private let observer: Observer
  private let logger: Logger
  private let state: Locked<State>
  /// Held by whoever changes something.
  ///
  /// What is told of that, or looks at the settings meanwhile, needs ``state`` alone: resolvers and clients tell their
  /// observers, who may ask what holds.
  private let changing = Locked<Void>(())

  /// Reads a file for the first time.
  ///
  /// - Parameters:
  ///   - path: the file. Relative paths in it go from its folder.
  ///   - environment: variables that go before the file, as ``DirectSettings`` has it; by default the process's own.
  ///   - interval: how often the file is looked at, more than 0; by default each second. It costs one system call.
  ///   - adjust: changes what the file says, each time before it is applied, for what the program knows better.
  ///   - observer: is told of every further reading: what it changed, or why it changed nothing; not of one that was tried
  ///     again and failed as before.
  /// - Throws: `invalidConfiguration` if the file cannot be used, or if the interval is none.
  public convenience init(
    path: String, environment: [String: String]? = nil, interval: Duration = .seconds(1),
    adjust: @escaping @Sendable (inout DirectSettings) -> Void = { _ in },
    observer: @escaping @Sendable (Result<SettingsDifference, DirectDNSError>) -> Void = { _ in }
  ) throws(DirectDNSError) {
    let variables = environment ?? ProcessInfo.processInfo.environment
    do throws(ConfigurationFault) {
      let environment = try EnvironmentSettings(variables)
      try self.init(
        ConfigurationPath(name: path), interval: interval, clock: SystemClock(),
        logger: Logger(label: "directdns.configuration"), observer: { outcome, _ in observer(outcome) }
      ) { bytes, name throws(ConfigurationFault) in
        var settings = try DirectSettings(
          ConfigurationFile(checking: bytes, name: name), environment: environment, overrides: SettingsOverrides())
        adjust(&settings)
        return settings
      }
    } catch {
      throw error.error
    }
  }

  /// The same with a command line's options over file and environment.
  package convenience init(
    path: String, environment: EnvironmentSettings, overrides: SettingsOverrides, clock: any ResolverClock,
    observer: @escaping Observer
  ) throws(ConfigurationFault) {
    try self.init(
      ConfigurationPath(name: path), interval: .seconds(1), clock: clock,
      logger: Logger(label: "directdns.configuration"), observer: observer
    ) { bytes, name throws(ConfigurationFault) in
      try DirectSettings(
        ConfigurationFile(checking: bytes, name: name), environment: environment, overrides: overrides)
    }
  }

  init(
    _ source: ConfigurationPath, interval: Duration, clock: any ResolverClock, logger: Logger,
    observer: @escaping Observer = { _, _ in }, reading: @escaping Reading
  ) throws(ConfigurationFault) {
    guard interval > .zero else {
      throw ConfigurationFault("interval is \(interval): leave some time between one look at the file and the next.")
    }
    self.source = source
    self.interval = interval
    self.clock = clock
    self.logger = logger
    self.observer = observer
    self.reading = reading
    // The stamp first: what is written in between is then seen as another state.
    let stamp = source.stamp()
    state = Locked(State(settings: try Self.settings(source, waits: true, by: reading, logger), stamp: stamp))
  }

  private static func settings(
    _ source: ConfigurationPath, waits: Bool, by reading: Reading, _ logger: Logger
  ) throws(ConfigurationFault) -> DirectSettings {
    if let warning = try ConfigurationFile.warning(of: source.name) {
      logger.warning("others may write to the configuration file", metadata: ["reason": "\(warning)"])
    }
    return try reading(source.read(waits: waits), source.name)
  }

  /// What holds at the moment.
  public var settings: DirectSettings { state.withLock(\.settings) }

  // MARK: Those who are kept to it

  /// Keeps a resolver to the file from now on, until it is shut down or dropped; what the file may say is the file's to
  /// say.
  ///
  /// - Throws: `invalidConfiguration` if the resolver cannot go by the file.
  public func keep(_ resolver: DirectResolver) throws(DirectDNSError) { try keep(resolver) { _ in } }

  private func keep(
    _ resolver: DirectResolver, _ adjust: @escaping @Sendable (inout ResolverConfiguration) -> Void
  ) throws(DirectDNSError) {
    try changing.withLock { _ throws(DirectDNSError) in
      try settings.apply(to: resolver, adjust)
      var kept = state.withLock(\.kept)
      kept.add(resolver, adjust)
      state.withLock { $0.kept = kept }
    }
  }

  /// Keeps a client to the file from now on, until it is shut down or dropped: its address policy, the switch of direct
  /// connect, and what lookups want.
  ///
  /// Its resolver is kept by ``keep(_:)-(DirectResolver)``.
  ///
  /// - Throws: `invalidConfiguration` if the client cannot go by the file.
  public func keep(_ client: DirectClient) throws(DirectDNSError) { try keep(client) { _ in } }

  private func keep(
    _ client: DirectClient, _ adjust: @escaping @Sendable (inout DirectClientConfiguration) -> Void
  ) throws(DirectDNSError) {
    try changing.withLock { _ throws(DirectDNSError) in
      try settings.apply(to: client, adjust)
      var kept = state.withLock(\.kept)
      kept.add(client, adjust)
      state.withLock { $0.kept = kept }
    }
  }

  /// Makes a resolver that is kept to the file.
  ///
  /// - Parameter adjust: changes what the file says, each time it is applied, and sets what no file says, such as the
  ///   store.
  /// - Returns: the resolver, which goes on by each further state of the file.
  /// - Throws: `invalidConfiguration` if there can be no such resolver.
  public func makeResolver(
    _ adjust: @escaping @Sendable (inout ResolverConfiguration) -> Void = { _ in }
  ) throws(DirectDNSError) -> DirectResolver {
    let settings = settings
    var configuration = settings.resolver
    adjust(&configuration)
    let resolver = try DirectResolver(configuration, system: SystemDNS(servers: settings.systemServers))
    try keep(resolver, adjust)
    return resolver
  }

  /// Makes a client that is kept to the file.
  ///
  /// - Parameters:
  ///   - resolver: what it resolves names by.
  ///   - adjust: changes what the file says, each time it is applied, and sets what no file says, such as the cookie jar.
  /// - Returns: the client, which goes on by each further state of the file.
  /// - Throws: `invalidConfiguration` if there can be no such client.
  public func makeClient(
    resolver: DirectResolver, _ adjust: @escaping @Sendable (inout DirectClientConfiguration) -> Void = { _ in }
  ) throws(DirectDNSError) -> DirectClient {
    let settings = settings
    var configuration = DirectClientConfiguration()
    configuration.trust = settings.resolver.trust
    settings.apply(to: &configuration)
    adjust(&configuration)
    let client = try DirectClient(configuration, resolver: resolver)
    try keep(client, adjust)
    return client
  }

  // MARK: Reading it again

  /// Reads the file again, whether or not it has changed.
  ///
  /// - Returns: what changed.
  /// - Throws: why the file cannot be used; what held before holds still.
  @discardableResult
  public func reload() throws(DirectDNSError) -> SettingsDifference {
    let outcome = changing.withLock { _ in read() }
    report(outcome)
    return try outcome.get()
  }

  /// Reads the file again if it is not what it was, or if the last reading failed for another reason than what it says.
  func reloadIfChanged() {
    let outcome = changing.withLock { _ -> Result<SettingsDifference, DirectDNSError>? in
      let (stamp, passing) = state.withLock { ($0.stamp, $0.passing) }
      guard source.stamp() == stamp else { return read() }
      guard let passing else { return nil }
      let outcome = read()
      if case .failure(let error) = outcome, error.message == passing { return nil }
      return outcome
    }
    if let outcome { report(outcome) }
  }

  /// Takes on what the file says: all of it, or none.
  private func read() -> Result<SettingsDifference, DirectDNSError> {
    let stamp = source.stamp()
    let before = state.withLock { state in
      state.stamp = stamp
      state.passing = nil
      return state.settings
    }
    let settings: DirectSettings
    do throws(ConfigurationFault) {
      // Whoever else would change something waits meanwhile.
      settings = try Self.settings(source, waits: false, by: reading, logger)
    } catch {
      return failure(error.error, mayPass: error.mayPass)
    }
    // Applied even where no difference is seen: the program may have changed what has no words here.
    let difference = SettingsDifference(from: before, to: settings)
    do throws(KeptObjects.Fault) {
      try state.withLock(\.kept).apply(settings, orGoBackTo: before)
    } catch {
      // Where some have taken it on, another try would send them to and fro.
      return failure(
        DirectDNSError(error.error.code, "\(source.name): \(error.error.message)"), mayPass: !error.wentBack)
    }
    state.withLock { $0.settings = settings }
    return .success(difference)
  }

  private func failure(_ error: DirectDNSError, mayPass: Bool) -> Result<SettingsDifference, DirectDNSError> {
    // A file that is not there is seen when it comes.
    state.withLock { $0.passing = mayPass && $0.stamp != nil ? error.message : nil }
    return .failure(error)
  }

  private func report(_ outcome: Result<SettingsDifference, DirectDNSError>) {
    let label: String
    switch outcome {
    case .success(let difference):
      label = difference.isEmpty ? "unchanged" : "applied"
      if difference.isEmpty {
        logger.info("configuration read: nothing has changed", metadata: ["file": "\(source.name.printable)"])
      }
      for change in difference.changes {
        logger.notice("configuration changed", metadata: ["file": "\(source.name.printable)", "change": "\(change)"])
      }
    case .failure(let error):
      label = "refused"
      logger.error(
        "the configuration file cannot be used: what held before holds still", metadata: ["reason": "\(error.message)"])
    }
    MetricSource().count(.configurationReads, label)
    observer(outcome, settings)
  }
}
