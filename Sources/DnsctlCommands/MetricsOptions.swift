// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
package import DirectDNS
package import DirectDNSPrometheus

/// The metrics options of commands that run until they are told to end.
package struct MetricsOptions: ParsableArguments {
  package init() {}

  @Option(
    name: .customLong("metrics"),
    help: ArgumentHelp(
      "Serve metrics for Prometheus at this address of this machine, such as 127.0.0.1:9464, and /live and /ready for supervisors. (default: off)",
      valueName: "address:port"),
    transform: { text in
      guard let place = MetricsPlace(text) else {
        throw ValidationError("\"\(text.printable)\" is not an address and port. Write 127.0.0.1:9464 or [::1]:9464.")
      }
      return place
    })
  var place: MetricsPlace?

  @Flag(
    name: .customLong("metrics-remote"),
    help: "Let --metrics take an address that other machines reach. There is no password.")
  var allowsRemoteClients = false

  /// Starts to collect metrics and serves them; `say(in:)` reports where.
  ///
  /// To be called before a resolver is made: it checks only once whether metrics are collected.
  ///
  /// - Parameters:
  ///   - context: collects metrics.
  ///   - collecting: the registry that collects already; without one a new registry is made.
  ///   - others: the metrics that there are besides the library's own, for their explanations.
  ///   - readiness: the answer to `/ready`; always ready by default.
  /// - Returns: the endpoint, which the caller stops; nil if it was not asked for.
  /// - Throws: if it cannot listen there.
  package func start(
    in context: CommandContext, from collecting: PrometheusRegistry? = nil,
    explaining others: [MetricDescription] = [],
    readiness: @escaping @Sendable () -> Readiness = { .ready }
  ) async throws(CommandError) -> MetricsEndpoint? {
    guard let place else {
      guard !allowsRemoteClients else {
        throw CommandError(.usage, "--metrics-remote needs --metrics.")
      }
      return nil
    }
    guard place.address.isLoopback || allowsRemoteClients else {
      throw CommandError(
        .usage, "--metrics \(place): other machines reach that address. Take 127.0.0.1, or add --metrics-remote.")
    }
    let registry = collecting ?? PrometheusRegistry(explaining: others)
    do throws(DirectDNSError) {
      let endpoint = try MetricsEndpoint(
        registry,
        MetricsEndpointConfiguration(
          address: place.address, port: place.port, allowsRemoteClients: allowsRemoteClients),
        readiness: readiness)
      try await endpoint.start()
      if collecting == nil { context.collectMetrics(registry) }
      return endpoint
    } catch {
      throw CommandError(.streams, error.message)
    }
  }
}

extension MetricsEndpoint? {
  /// Reports where it serves.
  package func say(in context: CommandContext) {
    if let url = self?.url { context.reportError("metrics at \(url)") }
  }

  /// Runs a command, and stops the endpoint when it has ended.
  package func serving(
    _ body: () async throws(CommandError) -> ExitStatus
  ) async throws(CommandError) -> ExitStatus {
    let outcome: Result<ExitStatus, CommandError>
    do throws(CommandError) { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    await self?.stop()
    return try outcome.get()
  }
}

/// `ADDRESS:PORT`.
struct MetricsPlace: Sendable, Hashable, CustomStringConvertible {
  let address: IPAddress
  let port: UInt16

  /// Reads an address, IPv6 in brackets, or `localhost`, and a port.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(port: text[text.index(after: colon)...])
    else { return nil }
    let host = text[..<colon]
    guard let address = host == "localhost" ? .loopback() : IPAddress.beforePort(host) else { return nil }
    self.address = address
    self.port = port
  }

  var description: String { "\(address.bracketed):\(port)" }
}

extension PrometheusRegistry {
  /// Creates a registry that explains further metrics.
  package convenience init(explaining metrics: [MetricDescription]) {
    self.init(
      PrometheusConfiguration(help: Dictionary(metrics.map { ($0.name, $0.meaning) }) { first, _ in first }))
  }
}
