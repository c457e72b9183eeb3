// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CoreMetrics
import HTTPTypes

@testable import DirectDNS
@testable import DirectDNSTesting
@testable import DnsctlCommands

/// A fixture without a network, a terminal or a clock that moves.
struct CommandFixture: Sendable {
  var zone: [String: Zone.Entry] = [:]
  var systemZone: [String: Zone.Entry] = [:]
  var environment: [String: String] = [:]
  /// Files by their paths; those of a ``TestFolder`` are there besides.
  var files: [String: String] = [:]
  var input = ScriptedInput([])
  /// What every command takes for its store; without it, what the command line says.
  var store: (any AnswerStore)?
  var isInputTerminal = false
  var isTerminal = false
  var isErrorsTerminal = false
  /// How long it paused between tries.
  let pauses = Locked<[Duration]>([])
  /// How the terminal was told to give keys.
  let keyModes = Locked<[Bool]>([])
  let transport = FakeTransport()
  let output = RecordingSink()
  let errors = RecordingSink()
  let clock = StillClock()
  var terminalSize = TerminalSize()
  /// What a signal ends the command with, once it has shown something.
  var interruption: ExitStatus?
  var hasRoutes: Set<IPAddress.Family> = [.ipv4]
  /// Where a command has its metrics collected.
  let registries = Locked<[any MetricsFactory]>([])
  /// How many queries there had been when it was told to ignore hang-ups.
  let ignoredHangUps = Locked<[Int]>([])

  /// What a run came to.
  struct Outcome: Sendable, Equatable {
    var status: Int32
    var output: String
    var errors: String
  }

  var context: CommandContext {
    transport.zone.withLock { $0 = Zone(entries: zone) }
    let system = FakeSystem(zone: Zone(entries: systemZone))
    return CommandContext(
      input: input, output: output, errors: errors, environment: environment, clock: clock,
      isInputTerminal: isInputTerminal, isOutputTerminal: isTerminal, isErrorsTerminal: isErrorsTerminal,
      terminalSize: { [terminalSize] in terminalSize },
      takeKeys: { [keyModes] isTaken in keyModes.withLock { $0.append(isTaken) } },
      pause: { [pauses] duration in pauses.withLock { $0.append(duration) } },
      readFile: { [files] path throws(StreamError) in
        if path.hasPrefix("/unreadable/") { throw .failed("Permission denied") }
        guard let text = files[path] else { return path.contains("/dnsctl-") ? try readWholeFile(path) : nil }
        return Array(text.utf8)
      },
      makeResolver: { [transport, clock] configuration, _ throws(DirectDNSError) in
        try DirectResolver(configuration, transport: transport, clock: clock, system: system)
      },
      collectMetrics: { [registries] registry in registries.withLock { $0.append(registry) } },
      interruption: { [interruption, output, errors, clock] in
        guard let interruption else {
          try? await clock.sleep(until: clock.now)
          return nil
        }
        await withTaskGroup(of: Void.self) { group in
          for sink in [output, errors] { group.addTask { await sink.hasWritten(1) } }
          _ = await group.next()
          group.cancelAll()
        }
        return interruption
      },
      onTerminalStop: { _ in },
      ignoreHangUp: { [ignoredHangUps, transport] in
        ignoredHangUps.withLock { $0.append(transport.asked.withLock(\.count)) }
      },
      packages: {
        var packages = SystemPackages()
        (packages.curl, packages.tls, packages.http2) = ("8.5.0", "OpenSSL/3.0.17", "1.52.0")
        (packages.cAres, packages.libidn2, packages.libpsl) = ("1.18.1", "2.3.3", "0.21.2")
        return packages
      },
      hasRoute: { [hasRoutes] in hasRoutes.contains($0) }, systemSource: { _ in system },
      openStore: { [store, environment, errors] setting throws(CommandError) in
        if let store { return store }
        return try setting.store(environment, errors: errors)
      })
  }

  /// Runs `dnsctl resolve` as a shell would.
  func resolve(_ arguments: [String]) async -> Outcome { await run(["resolve"] + arguments) }

  /// Runs `dnsctl` as a shell would.
  func run(_ arguments: [String]) async -> Outcome {
    do {
      guard let command = try Dnsctl.parseAsRoot(OptionWords.separated(arguments)) as? any ContextCommand else {
        return Outcome(status: -1, output: "", errors: "another command")
      }
      let status = await command.status(in: context)
      return Outcome(status: status.rawValue, output: output.text, errors: errors.text)
    } catch let error as CommandError {
      return Outcome(status: error.status.rawValue, output: "", errors: "dnsctl: \(error.message)\n")
    } catch {
      return Outcome(
        status: Dnsctl.exitCode(for: error).rawValue, output: "", errors: Dnsctl.fullMessage(for: error))
    }
  }
}

/// What names are in the fake network.
struct Zone: Sendable {
  enum Entry: Sendable {
    case addresses([String], ttl: Int = 300, alias: String? = nil)
    /// Records by their types' numbers, and whether they are authenticated.
    case records([Int: [String]], isAuthenticated: Bool = false)
    case missing
    case code(Int)
    case failure(HTTPTransportError)
  }

  var entries: [String: Entry] = [:]
}

/// A transport that speaks the JSON API of its zone, and remembers the URLs that it was asked.
final class FakeTransport: HTTPTransport {
  let zone = Locked(Zone())
  let asked = Locked<[String]>([])
  private let begun = Watched(0)
  /// Queries of that type are answered when one of another type has been.
  let slowType = Locked<String?>(nil)
  private let answered = Watched(0)
  /// Queries of the type with that number fail.
  let failingType = Locked<Int?>(nil)

  /// Waits until something was asked.
  func waitForAsked() async { await begun.wait { $0 > 0 } }

  func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply {
    asked.withLock { $0.append(message.url) }
    begun.change { $0 += 1 }
    defer { answered.change { $0 += 1 } }
    let query = Dictionary(
      message.url.split(separator: "?").last.map(String.init)?.split(separator: "&").map { item in
        let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
        return (parts[0], parts.last ?? "")
      } ?? []
    ) { $1 }
    if let slow = slowType.withLock(\.self), slow == query["type"] { await answered.wait { $0 > 0 } }
    let name = query["name"] ?? ""
    let type = query["type"].flatMap { Int($0) } ?? (query["type"] == "AAAA" ? 28 : 1)
    var isAuthenticated = false
    var answers: [String] = []
    var status = 0
    switch zone.withLock({ $0.entries[name] }) {
    case .addresses(let addresses, let ttl, let alias):
      if let alias { answers.append(#"{"name":"\#(name)","type":5,"TTL":\#(ttl),"data":"\#(alias)."}"#) }
      for address in addresses where type == (address.contains(":") ? 28 : 1) {
        answers.append(#"{"name":"\#(alias ?? name)","type":\#(type),"TTL":\#(ttl),"data":"\#(address)"}"#)
      }
    case .records(let records, let flag):
      isAuthenticated = flag
      for data in records[type] ?? [] {
        answers.append(#"{"name":"\#(name).","type":\#(type),"TTL":300,"data":\#(JSONLine.string(data))}"#)
      }
    case .missing, nil: status = 3
    case .code(let code): status = code
    case .failure(let error): throw error
    }
    if failingType.withLock({ $0 == type }) { (status, answers) = (2, []) }
    let body =
      #"{"Status":\#(status),"TC":false,"AD":\#(isAuthenticated),"Question":[{"name":"\#(name).","type":\#(type)}],"Answer":[\#(answers.joined(separator: ","))]}"#
    var fields = HTTPFields()
    fields[.contentType] = "application/dns-json"
    return HTTPReply(status: .ok, fields: fields, body: Array(body.utf8), address: IPAddress("192.0.2.53"))
  }

  func networkDidChange() {}
  func shutdown() {}
}

/// The system's DNS of another zone.
struct FakeSystem: SystemSource {
  let zone: Zone

  func answer(
    to host: HostName, family: IPAddress.Family, timeout: Duration
  ) async throws(ProviderFailure) -> Answer {
    switch zone.entries[host.text] {
    case .addresses(let texts, let ttl, _):
      let addresses = texts.compactMap(IPAddress.init).filter { $0.family == family }
      return addresses.isEmpty
        ? Answer(.negative(.noAddress), ttl: nil) : Answer(.addresses(addresses), ttl: UInt32(ttl))
    case .missing: return Answer(.negative(.nameNotFound), ttl: nil)
    default: throw ProviderFailure(.transport, "the fake system's DNS is out of order")
    }
  }
}

/// A clock that stands still; whoever sleeps waits to be cancelled.
struct StillClock: ResolverClock {
  var now: ResolverInstant { ResolverInstant(nanoseconds: 1_000_000_000) }
  var secondsSince1970: Int64 { 1_700_000_000 }

  func sleep(until instant: ResolverInstant) async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    withExtendedLifetime(continuation) {}
    throw CancellationError()
  }
}

/// Remembers what was written, and fails once as much was written as its reader wants.
final class RecordingSink: OutputSink {
  private struct State {
    var writes: [String] = []
    var bytes: [UInt8] = []
    var limit = Int.max
  }

  private let state = Watched(State())

  var writes: [String] { state.read { $0.writes } }
  var text: String { writes.joined() }
  /// What was written, also where it is no text.
  var bytes: [UInt8] { state.read { $0.bytes } }

  /// After so many writes the reader is gone.
  func close(after count: Int) { state.change { $0.limit = count } }

  func write(_ text: String) throws(StreamError) { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws(StreamError) {
    let isClosed = state.change { state in
      guard state.writes.count < state.limit else { return true }
      state.writes.append(String(decoding: bytes, as: UTF8.self))
      state.bytes += bytes
      return false
    }
    if isClosed { throw .closedPipe }
  }

  /// Waits until so many writes have been made, or the task is cancelled.
  func hasWritten(_ count: Int) async { await state.wait { $0.writes.count >= count } }
}

/// Standard input as a script: chunks, each of which may wait for something.
final class ScriptedInput: InputSource {
  struct Chunk: Sendable {
    var bytes: [UInt8]
    var after: @Sendable () async -> Void = {}

    init(text: String, after: @escaping @Sendable () async -> Void = {}) {
      bytes = Array(text.utf8)
      self.after = after
    }

    init(bytes: [UInt8]) { self.bytes = bytes }
  }

  private let chunks: Locked<[Chunk]>
  /// What stands at the end: nothing, or an error.
  private let end: StreamError?
  let reads = Locked(0)

  init(_ texts: [String], end: StreamError? = nil) {
    chunks = Locked(texts.map { Chunk(text: $0) })
    self.end = end
  }

  init(bytes: [[UInt8]]) {
    chunks = Locked(bytes.map { Chunk(bytes: $0) })
    end = nil
  }

  init(chunks: [Chunk]) {
    self.chunks = Locked(chunks)
    end = nil
  }

  func read() async throws(StreamError) -> [UInt8] {
    reads.withLock { $0 += 1 }
    guard let chunk = chunks.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
      if let end { throw end }
      return []
    }
    await chunk.after()
    return chunk.bytes
  }
}
