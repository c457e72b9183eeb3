import DirectDNS
import Foundation

/// A resolver that is driven line by line: `session --doh URL --config-json CONFIG`.
struct Session {
  /// A scenario's settings, in the words of the suite.
  struct Settings: Decodable {
    var stale: Bool?
    var max_stale: Double?
    var client_timeout_ms: Double?
    var failure_recheck_s: Double?
    var min_ttl: Double?
    var fallback: Bool?
  }

  /// The system's DNS as a scenario has it: nobody, until a line says otherwise.
  final class ScriptedSystem: SystemSource, @unchecked Sendable {
    private let lock = NSLock()
    private var answer: Answer?

    func set(_ answer: Answer) { lock.withLock { self.answer = answer } }

    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      guard let answer = lock.withLock({ answer }) else { throw ProviderFailure(.transport, "no system DNS") }
      let addresses = answer.addresses.filter { $0.family == family }
      return addresses.isEmpty
        ? Answer(.negative(.noAddress), ttl: nil) : Answer(.addresses(addresses), ttl: answer.ttl)
    }
  }

  private let resolver: Resolver
  private let system = ScriptedSystem()
  private let expired: ExpiredUse

  static func run() async throws {
    let arguments = CommandLine.arguments
    func value(_ option: String) throws -> String {
      guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else {
        throw MissingField(name: option)
      }
      return arguments[index + 1]
    }
    let settings = try JSONDecoder().decode(Settings.self, from: Data(value("--config-json").utf8))
    let session = try Session(url: value("--doh"), settings)
    while let line = readLine() {
      guard let command = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? JSONObject else { continue }
      var answer = try JSONSerialization.data(withJSONObject: await session.answer(command), options: [.sortedKeys])
      answer.append(UInt8(ascii: "\n"))
      try FileHandle.standardOutput.write(contentsOf: answer)
    }
  }

  init(url: String, _ settings: Settings) throws {
    var configuration = ResolverConfiguration(providers: [try ProviderConfiguration("doh+" + url)])
    configuration.hedges = false
    configuration.families = .ipv4
    // The lab's way to refuse leaves a kept-alive connection open and silent, so that only the end of an attempt
    // (60 % of this) tells: it must come before the scenarios' patience ends, and after their slowest answer.
    configuration.timeout = .milliseconds(1200)
    var cache = CachePolicy(grace: .zero, refreshesAhead: false)
    cache.minimumTTL = .seconds(settings.min_ttl ?? 0)
    if let seconds = settings.max_stale { cache.maximumStale = .seconds(seconds) }
    if let milliseconds = settings.client_timeout_ms { cache.patience = .milliseconds(milliseconds) }
    if let seconds = settings.failure_recheck_s {
      cache.staleRecheck = .seconds(seconds)
      cache.minimumFailureMemory = .seconds(seconds)
      cache.maximumFailureMemory = .seconds(seconds)
    }
    configuration.cache = cache
    expired = settings.stale == false ? .refused : .allowed
    resolver = try Resolver(configuration, system: system)
  }

  private func answer(_ command: JSONObject) async throws -> JSONObject {
    switch command["cmd"] as? String {
    case "resolve":
      let name = try text(command, "name")
      let count = command["parallel"] as? Int ?? 1
      let type = command["type"] as? String ?? "A"
      let results = await withTaskGroup(of: Data.self) { group in
        for _ in 0..<count { group.addTask { await lookUp(name, type: type) } }
        return await group.reduce(into: Set<Data>()) { $0.insert($1) }
      }
      guard results.count == 1, let result = results.first else { return ["error": "the callers disagree"] }
      return try JSONSerialization.jsonObject(with: result) as? JSONObject ?? [:]
    case "fallback":
      let script = command["fallback"] as? JSONObject ?? [:]
      let addresses = (script["addresses"] as? [String] ?? []).compactMap(IPAddress.init)
      system.set(Answer(.addresses(addresses), ttl: UInt32(script["ttl"] as? Int ?? 60)))
      return [:]
    case "flood":
      await flood(command["flood"] as? Int ?? 0)
      return [:]
    case "flush":
      resolver.invalidate(try HostName(text(command, "flush")))
      return [:]
    case "connect_fails":
      guard let address = IPAddress(try text(command, "connect_fails")) else {
        throw MissingField(name: "connect_fails")
      }
      resolver.report(address, .failed)
      return [:]
    case "clock":
      // Answers live on a monotonic time line: there is no wall clock in the cache that could be moved.
      return [:]
    default: return ["unsupported": true]
    }
  }

  private func lookUp(_ name: String, type: String) async -> Data {
    let families: AddressFamilies = type == "AAAA" ? .ipv6 : .ipv4
    var result: JSONObject
    do throws(DirectDNSError) {
      let found = try await resolver.resolve(name, options: LookupOptions(families: families, expired: expired))
      result = [
        "addresses": found.addresses.map(\.description).sorted(), "stale": found.expiredFor != nil, "rcode": 0,
        "ttl": found.timeToLive.map { Int($0.components.seconds) } ?? 0, "error": NSNull(),
      ]
    } catch {
      let isNegative = error.code == .nameNotFound || error.code == .noAddress
      result = [
        "addresses": [String](), "stale": false, "rcode": error.code == .nameNotFound ? 3 : isNegative ? 0 : 2,
        "error": isNegative ? NSNull() : error.description as Any,
      ]
    }
    return (try? JSONSerialization.data(withJSONObject: result, options: [.sortedKeys])) ?? Data()
  }

  private func flood(_ count: Int) async {
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        group.addTask { _ = try? await resolver.resolve("flood-\(index).lab.example") }
      }
    }
  }
}
