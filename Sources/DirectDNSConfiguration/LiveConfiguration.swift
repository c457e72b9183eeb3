// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Logging

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A configuration file that is followed while a process runs: resolvers and clients are updated when it changes,
/// without losing what they have learned.
///
/// Run it as a service: it reads the file again when that has changed, or when the process gets SIGHUP. A file that
/// cannot be used changes nothing; the log says what is wrong with it, and lists every change that was applied. A
/// failure that is not the file's fault, such as a lack of file descriptors or a missing file of `ca`, is tried again
/// at each check, and logged once.
///
/// ```swift
/// let live = try LiveConfiguration(path: "/etc/pipeline/directdns.json5")
/// let resolver = try live.makeResolver()
/// let client = try live.makeClient(resolver: resolver)
/// try await ServiceGroup(services: [live, resolver, client, pipeline], logger: logger).run()
/// ```
public final class LiveConfiguration: Sendable {
  /// Makes settings from a file's bytes.
  typealias Reading = @Sendable ([UInt8], _ name: String) throws(ConfigurationFault) -> DirectSettings

  /// Checks further settings before anything is changed; throws if the program cannot use them.
  package typealias Check = @Sendable (DirectSettings) throws(DirectDNSError) -> Void

  /// Called after each further reading, one call at a time, with the settings that are then in force, and whether the
  /// reading before was refused.
  package typealias Observer =
    @Sendable (Result<SettingsDifference, DirectDNSError>, DirectSettings, _ wasRefused: Bool) -> Void

  struct State {
    var settings: DirectSettings
    /// The state of the file when it was last read, successfully or not.
    var stamp: FileStamp?
    /// Why that failed, if another try may succeed with the same file.
    var passing: String?
    /// Whether the last reading that was reported changed nothing because the file cannot be used.
    var isRefused = false
    /// Readings that the observer has yet to be told of; it is being told of the first.
    var untold: [(outcome: Result<SettingsDifference, DirectDNSError>, wasRefused: Bool)] = []
    var kept = ConfiguredObjects()
  }

  /// How often the file is checked for changes.
  let interval: Duration
  let clock: any ResolverClock
  let path: String
  let reading: Reading
  let check: Check
  let observer: Observer
  let logger: Logger
  let state: Locked<State>
  /// Locked during a change.
  ///
  /// Observers and readers of the settings need only ``state``: resolvers and clients call observers, which may read
  /// the settings.
  let changing = Locked<Void>(())

  /// Reads a file for the first time.
  ///
  /// - Parameters:
  ///   - path: the file. Relative paths in it are relative to its folder.
  ///   - environment: variables that override the file, as in ``DirectSettings``; by default those of the process.
  ///   - interval: how often the file is checked for changes, more than 0; by default each second. It costs one system
  ///     call.
  ///   - adjust: changes the settings each time before they are applied, for what the program knows better.
  ///   - observer: called after every further reading with what it changed, or why it changed nothing; not after
  ///     another try that failed as before. One call comes at a time.
  /// - Throws: `invalidConfiguration` if the file cannot be used, or if the interval is not more than 0.
  public convenience init(
    path: String, environment: [String: String]? = nil, interval: Duration = .seconds(1),
    adjust: @escaping @Sendable (inout DirectSettings) -> Void = { _ in },
    observer: @escaping @Sendable (Result<SettingsDifference, DirectDNSError>) -> Void = { _ in }
  ) throws(DirectDNSError) {
    let variables = environment ?? ProcessInfo.processInfo.environment
    do throws(ConfigurationFault) {
      let environment = try EnvironmentSettings(variables)
      try self.init(
        path, interval: interval, clock: SystemClock(),
        logger: Logger(label: "directdns.configuration"), observer: { outcome, _, _ in observer(outcome) }
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

  /// The same, with the options of a command line over file and environment.
  package convenience init(
    path: String, environment: EnvironmentSettings, overrides: SettingsOverrides, clock: any ResolverClock,
    check: @escaping Check = { _ in }, observer: @escaping Observer
  ) throws(ConfigurationFault) {
    try self.init(
      path, interval: .seconds(1), clock: clock,
      logger: Logger(label: "directdns.configuration"), check: check, observer: observer
    ) { bytes, name throws(ConfigurationFault) in
      try DirectSettings(
        ConfigurationFile(checking: bytes, name: name), environment: environment, overrides: overrides)
    }
  }

  init(
    _ path: String, interval: Duration, clock: any ResolverClock, logger: Logger,
    check: @escaping Check = { _ in }, observer: @escaping Observer = { _, _, _ in }, reading: @escaping Reading
  ) throws(ConfigurationFault) {
    guard interval > .zero else {
      throw ConfigurationFault("interval is \(interval): leave some time between one look at the file and the next.")
    }
    self.path = path
    self.interval = interval
    self.clock = clock
    self.logger = logger
    self.observer = observer
    self.reading = reading
    self.check = check
    // The stamp first, so that a later write is noticed as another state.
    let stamp = FileStamp(of: path)
    state = Locked(State(settings: try Self.settings(path, waits: true, by: reading), stamp: stamp))
    warnOfWriters()
    // Created early: an alert on the increase of a series does not see one that begins with 1.
    let metrics = MetricSource()
    for outcome in Outcome.allCases { metrics.count(.configurationReads, outcome.rawValue, by: 0) }
  }

  static func settings(
    _ path: String, waits: Bool, by reading: Reading
  ) throws(ConfigurationFault) -> DirectSettings {
    // It refuses a file that everybody may write to.
    _ = try ConfigurationFile.warning(of: path)
    return try reading(bytes(of: path, waits: waits), path)
  }

  /// The bytes of a file as they are now.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - waits: whether to wait for a FIFO's writer.
  /// - Returns: the bytes.
  /// - Throws: why they cannot be read.
  static func bytes(of path: String, waits: Bool) throws(ConfigurationFault) -> [UInt8] {
    do throws(FileFailure) {
      // A device or a pipe may never end, and no configuration has nearly as many bytes.
      if let bytes = try ReadableFile(path, waits: waits).readToEnd(limit: 16 << 20) { return bytes }
    } catch {
      let reason =
        error.isMissing ? "there is no such file" : error.isForbidden ? "this process has no right to" : error.reason
      throw .passing("\(path): the configuration file cannot be read: \(reason).")
    }
    throw ConfigurationFault("\(path): that is not a configuration file: it is longer than 16 MiB.")
  }

  /// Logs that others may write to the file; once for each reading that is told, and not at each try.
  func warnOfWriters() {
    guard let warning = try? ConfigurationFile.warning(of: path) else { return }
    logger.warning("others may write to the configuration file", metadata: ["reason": "\(warning)"])
  }

  /// The settings that are in force.
  public var settings: DirectSettings { state.withLock(\.settings) }

  // MARK: Resolvers and clients

  /// Updates a resolver with the file from now on, until it is shut down or released; the file decides everything that
  /// a file can set.
  ///
  /// - Throws: `invalidConfiguration` if the resolver cannot use the settings.
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

  /// Updates a client with the file from now on, until it is shut down or released: its address policy, the switch of
  /// direct connect, and whether lookups may use expired answers.
  ///
  /// Its resolver is updated by ``keep(_:)-(DirectResolver)``.
  ///
  /// - Throws: `invalidConfiguration` if the client cannot use the settings.
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

  /// Makes a resolver that is updated with the file.
  ///
  /// - Parameter adjust: changes the file's settings each time before they are applied, and sets what no file can, such
  ///   as the store.
  /// - Returns: the resolver, which applies each further state of the file.
  /// - Throws: `invalidConfiguration` if there can be no such resolver.
  public func makeResolver(
    _ adjust: @escaping @Sendable (inout ResolverConfiguration) -> Void = { _ in }
  ) throws(DirectDNSError) -> DirectResolver {
    let settings = settings
    var configuration = settings.resolver
    adjust(&configuration)
    let resolver = try DirectResolver(configuration, system: SystemDNS(servers: settings.systemServers))
    // Other settings may have come meanwhile; the same ones change nothing.
    try keep(resolver, adjust)
    return resolver
  }

  /// Makes a client that is updated with the file.
  ///
  /// - Parameters:
  ///   - resolver: resolves names.
  ///   - adjust: changes the file's settings each time before they are applied, and sets what no file can, such as the
  ///     cookie jar.
  /// - Returns: the client, which applies each further state of the file.
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
}
