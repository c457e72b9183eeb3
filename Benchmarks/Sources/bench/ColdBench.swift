// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import FoundationEssentials
import Load

/// Lookups of names that no cache knows, so many in flight.
struct ColdBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cold")

  enum Method: String, ExpressibleByArgument { case get, post, json }

  @Option var method = Method.get
  @Option var url: String
  @Option var ca: String
  @Option var bootstrap: String?
  @Option(name: .customLong("names")) var file: String
  @Option var count = 100_000
  @Option var inFlight = 64
  /// So many providers, all of them the same server: with more than one, lookups have a second choice and may hedge.
  @Option var providers = 1
  /// Lookups beforehand that are not counted: the connection is made and its windows have grown.
  @Option var warmUp = 2000

  func run() async throws {
    let format =
      switch method {
      case .get: "doh+"
      case .post: "doh-post+"
      case .json: "json+"
      }
    var provider = try ProviderConfiguration(format + url)
    if let address = bootstrap?.split(separator: "=").last.flatMap({ IPAddress(String($0)) }) {
      provider.bootstrap = [address]
    }
    var configuration = ResolverConfiguration(providers: Array(repeating: provider, count: max(1, providers)))
    configuration.trust = TrustStore(privateAuthorities: [ca])
    configuration.families = .ipv4
    configuration.usesSystemDNS = false
    configuration.capacity = count + warmUp
    let resolver = try DirectResolver(configuration)
    let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
    let hosts = try text.split(separator: "\n").prefix(count + warmUp).map { try HostName(String($0)) }
    let load = Load(inFlight: inFlight, executor: resolver.executor)
    let failed = await load.measure(hosts.count - warmUp, warmUp: warmUp) { index in
      _ = try await resolver.resolve(hosts[index])
    }
    if failed > 0 { throw ExitCode(1) }
  }
}
