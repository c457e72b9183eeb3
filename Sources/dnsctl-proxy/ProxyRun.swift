// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSProxy
internal import DnsctlCommands

/// A command's proxy while it listens.
struct ProxyRun: Sendable {
  /// Where it listens, with the ports that were chosen.
  let places: [ListenAddress]
  private let server: ProxyServer
  private let inputs: ProxyInputs
  private let resolver: DirectResolver
  private let context: CommandContext

  /// Starts a proxy, and stops it once `body` has ended, with an error too.
  ///
  /// - Parameters:
  ///   - inputs: what its configuration is made of.
  ///   - resolver: resolves names.
  ///   - context: where its configuration comes from.
  ///   - body: runs while it serves.
  ///   - stop: stops it in the end, also where `body` has thrown an error: clients may be there already.
  /// - Throws: why it cannot serve, or what `body` throws.
  static func serve(
    _ inputs: ProxyInputs, _ resolver: DirectResolver, in context: CommandContext,
    _ body: (ProxyRun) async throws(CommandError) -> Void,
    stop: (ProxyServer) async -> Void = { await $0.stop() }
  ) async throws(CommandError) {
    let configuration = try inputs.configuration()
    let server: ProxyServer
    do throws(DirectDNSError) { server = try ProxyServer(configuration, resolver: resolver) } catch {
      throw CommandError(.usage, error.message)
    }
    let places: [ListenAddress]
    do throws(DirectDNSError) { places = try await server.start() } catch {
      // An inherited socket at an address that it may not have.
      throw CommandError(error.code == .invalidConfiguration ? .configuration : .streams, error.message)
    }
    let run = ProxyRun(places: places, server: server, inputs: inputs, resolver: resolver, context: context)
    do throws(CommandError) { try await body(run) } catch {
      await stop(server)
      throw error
    }
    await stop(server)
  }

  /// Has the proxy take over what changes in the configuration file, as ``LookupArguments/follow`` does.
  ///
  /// - Parameters:
  ///   - arguments: the options that name the file.
  ///   - trapsHangUp: whether SIGHUP has the file read again.
  ///   - begun: called as soon as the file is followed; never if nil is returned.
  ///   - read: called after each reading, whatever its result.
  /// - Returns: a task to cancel at the end; nil if there is nothing to follow.
  /// - Throws: what is wrong with the file.
  func follow(
    _ arguments: LookupArguments, trapsHangUp: Bool, begun: @escaping @Sendable () -> Void = {},
    read: @escaping @Sendable () -> Void
  ) throws(CommandError) -> Task<Void, any Error>? {
    try arguments.follow(
      resolver, in: context, trapsHangUp: trapsHangUp, report: context.reportError,
      changed: { settings in inputs.take(settings, for: server) },
      check: { settings throws(DirectDNSError) in try inputs.check(settings, for: server) }, begun: begun, read: read)
  }

  /// Reads the other files again, and takes them over.
  func update() { inputs.update(server) }
}
