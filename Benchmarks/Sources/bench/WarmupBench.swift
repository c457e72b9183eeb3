import ArgumentParser
import DirectDNS
import FoundationEssentials

/// A warm-up from nothing: a new resolver, no connection, no answer.
struct WarmupBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "warmup")

  @Option var url: String
  @Option var ca: String
  @Option var bootstrap: String
  @Option(name: .customLong("names")) var file: String
  /// Of the file's names, the first so many.
  @Option var count = 100_000
  @Option var inFlight = 64

  func run() async throws {
    var provider = try ProviderConfiguration("doh+" + url)
    if let address = bootstrap.split(separator: "=").last.flatMap({ IPAddress(String($0)) }) {
      provider.bootstrap = [address]
    }
    var configuration = ResolverConfiguration(providers: [provider])
    configuration.trust = TrustStore(privateAuthorities: [ca])
    configuration.families = .ipv4
    configuration.usesSystemDNS = false
    configuration.capacity = count
    let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
    let names = text.split(separator: "\n").prefix(count).map { String($0) }
    // The floor's libraries are initialised, and its names read, before it looks at the clock.
    try Resolver(configuration).shutDown()

    let clock = ContinuousClock()
    let began = clock.now
    var plan = WarmupPlan(names: names)
    plan.concurrency = inFlight
    plan.deadline = nil
    let report = try await WarmupJob(plan, resolver: Resolver(configuration)).warmUp()
    let seconds = (clock.now - began) / .seconds(1)
    print("ms=\(seconds * 1000) rate=\(Double(count) / seconds) failed=\(count - report.resolved)")
    if report.resolved != count { throw ExitCode(1) }
  }
}
