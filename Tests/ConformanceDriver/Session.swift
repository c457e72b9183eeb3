// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import Foundation
import Synchronization

/// A resolver that is driven line by line: `session --doh URL --config-json CONFIG`.
struct Session {
  /// A scenario's settings, in the words of the suite.
  struct Settings: Decodable {
    var stale: Bool?
    var max_stale: Double?
    var stale_reply_ttl: Double?
    var client_timeout_ms: Double?
    var failure_recheck_s: Double?
    var min_ttl: Double?
    var fallback: Bool?
  }

  /// The system's DNS as a scenario has it: off, until a line says what it answers.
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

  /// The machine's time, with a wall clock that a scenario moves.
  final class MovedClock: ResolverClock {
    private let machine = SystemClock()
    private let milliseconds = Atomic<Int64>(0)

    var now: ResolverInstant { machine.now }
    var wallNow: WallInstant { machine.wallNow + .milliseconds(milliseconds.load(ordering: .relaxed)) }
    var secondsSince1970: Int64 { wallNow.milliseconds / 1000 }

    func move(by seconds: Double) { milliseconds.add(Int64((seconds * 1000).rounded()), ordering: .relaxed) }

    func sleep(until instant: ResolverInstant) async throws { try await machine.sleep(until: instant) }
  }

  private var resolver: DirectResolver
  private var configuration: ResolverConfiguration
  private let system = ScriptedSystem()
  private let clock = MovedClock()
  private let expired: ExpiredUse

  static func run() async throws {
    let arguments = CommandLine.arguments
    func value(_ option: String) throws -> String {
      guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else {
        throw MissingField(name: option)
      }
      return arguments[index + 1]
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "session-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let settings = try JSONDecoder().decode(Settings.self, from: Data(value("--config-json").utf8))
    var session = try Session(url: value("--doh"), settings, store: folder.appending(path: "answers.sqlite").path)
    while let line = readLine() {
      guard let command = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? JSONObject else {
        throw MissingField(name: "a command in \(line.prefix(200))")
      }
      var answer = try JSONSerialization.data(withJSONObject: await session.answer(command), options: [.sortedKeys])
      answer.append(UInt8(ascii: "\n"))
      try FileHandle.standardOutput.write(contentsOf: answer)
    }
  }

  /// The library's own defaults, but for a store's time, what the suites' README turns off and what the scenario sets.
  init(url: String, _ settings: Settings, store path: String) throws {
    guard settings.stale_reply_ttl.map({ .seconds($0) == Resolution.staleTimeToLive }) ?? true else {
      throw MissingField(name: "a setting for stale_reply_ttl: the library's is \(Resolution.staleTimeToLive)")
    }
    configuration = ResolverConfiguration(providers: [try ProviderConfiguration("doh+" + url)])
    configuration.hedges = false
    configuration.usesSystemDNS = settings.fallback == true
    configuration.store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path))
    // A busy machine's file is read in time, too.
    configuration.storeTimeout = .seconds(1)
    var cache = CachePolicy(grace: .zero, refreshesAhead: false)
    cache.minimumTTL = .seconds(settings.min_ttl ?? 0)
    if let seconds = settings.max_stale { cache.maximumStale = .seconds(seconds) }
    if let milliseconds = settings.client_timeout_ms { cache.clientResponseTimeout = .milliseconds(milliseconds) }
    if let seconds = settings.failure_recheck_s {
      cache.failureRecheck = .seconds(seconds)
      cache.minimumFailureTTL = .seconds(seconds)
      cache.maximumFailureTTL = .seconds(seconds)
    }
    configuration.cache = cache
    expired = settings.stale == false ? .refused : .allowed
    resolver = try DirectResolver(configuration, clock: clock, system: system)
  }

  private mutating func answer(_ command: JSONObject) async throws -> JSONObject {
    switch try text(command, "cmd") {
    case "resolve": return try await resolve(command)
    case "fallback":
      guard let script = command["fallback"] as? JSONObject, let texts = script["addresses"] as? [String] else {
        throw MissingField(name: "fallback")
      }
      let addresses = try texts.map { text in
        guard let address = IPAddress(text) else { throw MissingField(name: "an address in \(text)") }
        return address
      }
      system.set(Answer(.addresses(addresses), ttl: UInt32(script["ttl"] as? Int ?? 60)))
      configuration.usesSystemDNS = true
      try resolver.update(configuration)
      return [:]
    case "flood":
      guard let count = command["flood"] as? Int else { throw MissingField(name: "flood") }
      await flood(count)
      return [:]
    case "flush":
      resolver.invalidate(try HostName(text(command, "flush")))
      return [:]
    case "connect_fails":
      guard let address = IPAddress(try text(command, "connect_fails")) else {
        throw MissingField(name: "connect_fails")
      }
      resolver.report(.failed, for: address)
      return [:]
    case "clock":
      guard let seconds = command["clock"] as? Double else { throw MissingField(name: "clock") }
      clock.move(by: seconds)
      return [:]
    case "restart":
      let flush = await resolver.shutdown(flushingWithin: DirectResolver.flushLimit)
      guard flush.unwritten == 0 else { return ["error": "the store did not get \(flush.unwritten) answers"] }
      resolver = try DirectResolver(configuration, clock: clock, system: system)
      return [:]
    default: return ["unsupported": true]
    }
  }

  /// One answer for all callers, who must have got the same one; only the order of addresses may be each one's own.
  private func resolve(_ command: JSONObject) async throws -> JSONObject {
    let name = try text(command, "name")
    let type = command["type"] as? String ?? "A"
    guard ["A", "AAAA"].contains(type) else { return ["unsupported": true] }
    let resolver = resolver
    let expired = expired
    let results = await withTaskGroup(of: Lookup.self) { group in
      for _ in 0..<(command["parallel"] as? Int ?? 1) {
        group.addTask { await Lookup(name, type == "AAAA" ? .ipv6 : .ipv4, expired, by: resolver) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    guard let first = results.first, results.allSatisfy(first.agrees) else { return ["error": "the callers disagree"] }
    return first.answer
  }

  private func flood(_ count: Int) async {
    let resolver = resolver
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        group.addTask {
          _ = try? await resolver.resolve("flood-\(index).lab.example", options: LookupOptions(families: .ipv4))
        }
      }
    }
  }
}

extension Session {
  /// What a lookup came to.
  struct Lookup: Sendable {
    private var addresses: [String] = []
    private var isStale = false
    private var code = 0
    private var timeToLive: Int?
    private var error: String?

    init(_ name: String, _ family: IPAddress.Family, _ expired: ExpiredUse, by resolver: DirectResolver) async {
      do throws(DirectDNSError) {
        let options = LookupOptions(families: AddressFamilies(family), expired: expired)
        let found = try await resolver.resolve(name, options: options)
        addresses = found.addresses.map(\.description)
        isStale = found.expiredFor != nil
        timeToLive = found.timeToLive.map { Int($0.components.seconds) }
      } catch {
        switch error.code {
        case .nameNotFound: code = 3
        case .noAddress: code = 0
        case .upstreamFailed, .timedOut: (code, self.error) = (2, error.description)
        default: (code, self.error) = (-1, error.description)
        }
        guard self.error == nil, let host = try? HostName(name) else { return }
        // An error has no lifetime: the cache's own is asked for.
        let kept = resolver.snapshot().first { $0.host == host && $0.family == family }
        timeToLive = kept.map { Int($0.timeLeft.components.seconds) }
      }
    }

    /// Whether two callers were told the same; a caller may come a moment later than another.
    func agrees(with other: Self) -> Bool {
      addresses.sorted() == other.addresses.sorted() && isStale == other.isStale && code == other.code
        && error == other.error
    }

    var answer: JSONObject {
      [
        "addresses": addresses, "stale": isStale, "rcode": code, "ttl": timeToLive as Any? ?? NSNull(),
        "error": error as Any? ?? NSNull(),
      ]
    }
  }
}
