import ArgumentParser
import DirectDNS
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

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
    var configuration = ResolverConfiguration(providers: [provider])
    configuration.trust = TrustStore(privateAuthorities: [ca])
    configuration.families = .ipv4
    configuration.usesSystemDNS = false
    configuration.capacity = count + 1
    let resolver = try Resolver(configuration)
    let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
    let hosts = try text.split(separator: "\n").prefix(count).map { try HostName(String($0)) }
    // One lookup beforehand: the connection is made, as it is in the floor's warm-up.
    _ = try await resolver.resolve("www.lab.test")

    let progress = Progress()
    let wall = DispatchTime.now().uptimeNanoseconds
    let cpu = clock()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<inFlight {
        group.addTask { @Sendable in
          while true {
            let index = progress.next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < hosts.count else { return }
            do { _ = try await resolver.resolve(hosts[index]) } catch { progress.failed.wrappingAdd(1, ordering: .relaxed) }
          }
        }
      }
    }
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - wall) / 1e9
    let cpuSeconds = Double(clock() - cpu) / Double(CLOCKS_PER_SEC)
    print(
      "rate=\(Double(hosts.count) / seconds) cpu_us=\(cpuSeconds / Double(hosts.count) * 1e6) failed=\(progress.failed.load(ordering: .relaxed))"
    )
    if progress.failed.load(ordering: .relaxed) > 0 { throw ExitCode(1) }
  }
}

private final class Progress: Sendable {
  let next = Atomic<Int>(0)
  let failed = Atomic<Int>(0)
}
