// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSProxy
internal import DnsctlCommands

/// What a running proxy's configuration is made of: the settings of the configuration file, and the files of
/// `--upstream`, `--users` and `--token`.
///
/// Each of them applies or stays as it was by itself: otherwise a mistake in one file would go on letting in a user whom
/// another file has removed.
final class ProxyInputs: Sendable {
  /// Makes a configuration of settings, routes and users.
  typealias Making = @Sendable (DirectSettings, ProxyEntry, ProxyUsers?) -> ProxyConfiguration

  private struct Values: Sendable {
    var settings: DirectSettings
    var upstream: UpstreamProxy?
    var userLines = ""
    var tokens: [Secret] = []
  }

  private let route: RouteOptions
  private let proxy: ProxyOptions?
  private let context: CommandContext
  private let make: Making
  private let held: Locked<Values>
  /// Locked during a change: a changed file and SIGHUP may come at the same time.
  private let changing = Locked<Void>(())

  /// Reads the files for the first time.
  ///
  /// - Parameters:
  ///   - settings: the settings of the configuration file.
  ///   - route: the options of routes.
  ///   - proxy: the options that say who may use the proxy; nil if anybody may.
  ///   - context: reads the files, and reports those that cannot be used.
  ///   - make: makes the proxy's configuration.
  /// - Throws: what is wrong with a file.
  init(
    _ settings: DirectSettings, _ route: RouteOptions, _ proxy: ProxyOptions?, in context: CommandContext,
    make: @escaping Making
  ) throws(CommandError) {
    self.route = route
    self.proxy = proxy
    self.context = context
    self.make = make
    var values = Values(settings: settings)
    values.upstream = try route.upstream(in: context)
    values.userLines = try proxy?.userLines(in: context) ?? ""
    values.tokens = try proxy?.tokens(in: context) ?? []
    held = Locked(values)
  }

  /// The configuration that results.
  func configuration() throws(CommandError) -> ProxyConfiguration { try configuration(of: held.withLock(\.self)) }

  private func configuration(of values: Values) throws(CommandError) -> ProxyConfiguration {
    let configuration = make(
      values.settings, try route.entry(over: values.settings.proxy, values.upstream),
      try proxy?.users(values.userLines, values.tokens))
    // Without the option it is the file's, and no mistake of the command line.
    if values.upstream == nil, configuration.isItsOwnUpstream, let upstream = configuration.upstream {
      throw CommandError(
        .configuration, "proxy.upstream: \(upstream): that is where this proxy listens itself: name another one.")
    }
    return configuration
  }

  /// Checks whether a proxy could use other settings of the configuration file.
  func check(_ settings: DirectSettings, for server: ProxyServer) throws(DirectDNSError) {
    var values = held.withLock(\.self)
    values.settings = settings
    do throws(CommandError) { try check(values, for: server) } catch {
      throw DirectDNSError(.invalidConfiguration, error.message)
    }
  }

  /// Takes settings of the configuration file that were checked, and updates a proxy.
  func take(_ settings: DirectSettings, for server: ProxyServer) {
    changing.withLock { _ in
      held.withLock { $0.settings = settings }
      apply(to: server)
    }
  }

  /// Reads the other files again, and updates a proxy.
  func update(_ server: ProxyServer) {
    changing.withLock { _ in
      renew("The previous upstream proxy stays in force.", server) { values throws(CommandError) in
        values.upstream = try route.upstream(in: context)
      }
      if let proxy {
        renew("The previous users stay in force.", server) { values throws(CommandError) in
          values.userLines = try proxy.userLines(in: context)
        }
        renew("The previous token stays in force.", server) { values throws(CommandError) in
          values.tokens = try proxy.tokens(in: context)
        }
      }
      apply(to: server)
    }
  }

  private func apply(to server: ProxyServer) {
    do throws(CommandError) {
      let configuration = try configuration()
      do throws(DirectDNSError) { try server.update(configuration) } catch { context.reportError(error.message) }
    } catch {
      context.reportError(error.message)
    }
  }

  private func renew(_ otherwise: String, _ server: ProxyServer, _ read: (inout Values) throws(CommandError) -> Void) {
    var values = held.withLock(\.self)
    do throws(CommandError) {
      try read(&values)
      try check(values, for: server)
      held.withLock { [values] in $0 = values }
    } catch {
      context.reportError("\(DirectDNSError.sentence(error.message)) \(otherwise)")
    }
  }

  private func check(_ values: Values, for server: ProxyServer) throws(CommandError) {
    let configuration = try configuration(of: values)
    do throws(DirectDNSError) { try server.check(configuration) } catch {
      throw CommandError(.configuration, error.message)
    }
  }
}
