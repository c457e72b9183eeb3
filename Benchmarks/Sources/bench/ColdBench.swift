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
    var configuration = ResolverConfiguration(providers: [provider])
    configuration.trust = TrustStore(privateAuthorities: [ca])
    configuration.families = .ipv4
    configuration.usesSystemDNS = false
    configuration.capacity = count + warmUp
    let resolver = try Resolver(configuration)
    let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
    let hosts = try text.split(separator: "\n").prefix(count + warmUp).map { try HostName(String($0)) }
    _ = try await Self.lookUp(hosts.prefix(warmUp), with: resolver, inFlight: inFlight)
    let wall = DispatchTime.now().uptimeNanoseconds
    let cpu = clock()
    let failed = try await Self.lookUp(hosts.dropFirst(warmUp), with: resolver, inFlight: inFlight)
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - wall) / 1e9
    let cpuSeconds = Double(clock() - cpu) / Double(CLOCKS_PER_SEC)
    print(
      "rate=\(Double(count) / seconds) cpu_us=\(cpuSeconds / Double(count) * 1e6) failed=\(failed)"
    )
    if failed > 0 { throw ExitCode(1) }
  }

  /// Looks names up, so many at a time, and counts the failures.
  private static func lookUp(
    _ hosts: ArraySlice<HostName>, with resolver: Resolver, inFlight: Int
  ) async throws -> Int {
    let progress = Progress(hosts.startIndex)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<inFlight {
        group.addTask { @Sendable in
          while true {
            let index = progress.next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < hosts.endIndex else { return }
            do {
              _ = try await resolver.resolve(hosts[index])
            } catch {
              progress.failed.wrappingAdd(1, ordering: .relaxed)
            }
          }
        }
      }
    }
    return progress.failed.load(ordering: .relaxed)
  }
}

private final class Progress: Sendable {
  let next: Atomic<Int>
  let failed = Atomic<Int>(0)

  init(_ start: Int) { next = Atomic(start) }
}
