// SPDX-License-Identifier: Apache-2.0
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
    let list = try firstNames()
    defer { try? FileManager.default.removeItem(at: list) }
    // The floor's libraries are initialised, and its names read, before it looks at the clock.
    try await initialiseLibraries(configuration)

    let clock = ContinuousClock()
    let began = clock.now
    var plan = WarmupPlan(file: list.path)
    plan.concurrency = inFlight
    plan.timeout = nil
    let report = try await WarmupJob(plan, resolver: DirectResolver(configuration)).warmUp()
    let seconds = (clock.now - began) / .seconds(1)
    print("ms=\(seconds * 1000) rate=\(Double(count) / seconds) failed=\(count - report.resolved)")
    if report.resolved != count { throw ExitCode(1) }
  }

  private func initialiseLibraries(_ configuration: ResolverConfiguration) async throws {
    let resolver = try DirectResolver(configuration)
    _ = try await resolver.resolve("www.lab.test")
    resolver.shutdown()
  }

  /// A file of the first names: a list in memory would be measured with the library's own.
  private func firstNames() throws -> URL {
    let names = try Data(contentsOf: URL(filePath: file), options: .mappedIfSafe)
    // Line by line, and none is kept: the process's largest size is measured.
    var end = names.startIndex
    for _ in 0..<count {
      guard let line = names[end...].firstIndex(of: UInt8(ascii: "\n")) else { break }
      end = line + 1
    }
    let list = FileManager.default.temporaryDirectory.appending(path: "names-\(UInt64.random(in: .min ... .max))")
    try names[..<end].write(to: list)
    return list
  }
}
