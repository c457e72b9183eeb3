// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS

struct QuestionBatchTests {
  private static func question(_ number: Int) -> AddressQuestion {
    AddressQuestion(Sample.name("n\(number).example"), .ipv4)
  }

  private func batch(expecting count: Int) -> QuestionBatch {
    var batch = QuestionBatch(LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)))
    for _ in 0..<count { batch.expect() }
    return batch
  }

  @Test func `it goes out when the last one has come, and no earlier than nobody else is expected`() {
    var batch = batch(expecting: 3)
    for number in 0..<3 { batch.join(Number(rawValue: number), Self.question(number)) }
    #expect(!batch.isComplete)
    batch.close()
    #expect(batch.isComplete && batch.questions == (0..<3).map(Self.question))
  }

  @Test func `who leaves is not waited for, and not asked for`() {
    var batch = batch(expecting: 3)
    batch.close()
    batch.join(7, Self.question(7))
    batch.leave(8)
    #expect(!batch.isComplete)
    batch.leave(9)
    #expect(batch.isComplete && batch.members.map(\.number) == [7])
  }

  @Test func `who has joined may still leave, until it has gone out`() {
    var batch = batch(expecting: 3)
    batch.close()
    for number in 0..<2 { batch.join(Number(rawValue: number), Self.question(number)) }
    batch.leave(0)
    #expect(!batch.isComplete)
    batch.leave(2)
    #expect(batch.isComplete && batch.members.map(\.number) == [1])
    batch.isSent = true
    batch.leave(1)
    #expect(batch.members.map(\.number) == [1])
  }

  @Test func `where all have left there is nothing to ask`() {
    var batch = batch(expecting: 1)
    batch.close()
    batch.leave(0)
    #expect(batch.isComplete && batch.questions.isEmpty)
  }

  @Test func `it is sent once`() {
    var batch = batch(expecting: 1)
    batch.join(1, Self.question(1))
    batch.close()
    batch.isSent = true
    #expect(!batch.isComplete)
  }
}

/// Warm-ups over an API that takes several names at once, through the whole of the library, over sockets.
@Suite(.timeLimit(.minutes(1)))
struct BatchReadingTests {
  private static let secret = "00112233445566778899aabbccddeeff"

  private static let paths = ["/7/d", "/7/sign_d", "/7/sign_resolve", "/v2/d?id=7"]

  private static func names(_ count: Int) -> [String] { (0..<count).map { "n\($0).example.test" } }

  /// A provider that knows those names in both families, and a resolver that asks it.
  private static func running(
    _ count: Int, _ path: String = "/7/d", second: FakeProvider? = nil, edit: (inout RecordTable) -> Void = { _ in },
    configure: (inout ResolverConfiguration) -> Void = { _ in },
    _ body: (FakeProvider, DirectResolver) async throws -> Void
  ) async throws {
    var records = RecordTable()
    for (number, name) in names(count).enumerated() {
      records.add(name, "192.0.2.\(number % 250)", ttl: 600)
      records.add(name, "2001:db8::\(number + 1)", ttl: 600)
    }
    edit(&records)
    var setup = FakeProviderConfiguration()
    setup.emasAccount = EMASAccount(id: "7", secret: secret, requiresSignature: path.contains("sign"))
    let server = try await FakeProvider.start(records: records, configuration: setup)
    let credentials = ProviderCredentials(secret: path == "/7/d" ? nil : Secret(secret))
    var configuration = ResolverConfiguration(
      providers: [try ProviderConfiguration("emas+\(server.baseURL)\(path)", credentials: credentials)])
    if let second { configuration.providers.append(try ProviderConfiguration("json+\(second.baseURL)/resolve")) }
    configuration.usesSystemDNS = false
    configuration.timeout = .seconds(20)
    configuration.hedges = false
    configure(&configuration)
    let resolver = try DirectResolver(configuration)
    do { try await body(server, resolver) } catch {
      resolver.shutdown()
      await server.stop()
      throw error
    }
    resolver.shutdown()
    await server.stop()
  }

  private static func warmUp(
    _ names: [String], _ resolver: DirectResolver, _ change: (inout WarmupPlan) -> Void = { _ in }
  ) async throws -> WarmupReport {
    var plan = WarmupPlan(names: names)
    plan.retry = .never
    change(&plan)
    return try await WarmupJob(plan, resolver: resolver).warmUp()
  }

  @Test(arguments: paths, [1, 5, 7, 100])
  func `many names are asked for in both families, five in each query`(_ path: String, _ count: Int) async throws {
    try await Self.running(count, path) { server, resolver in
      let report = try await Self.warmUp(Self.names(count), resolver)
      #expect(report.readiness == .complete)
      #expect(report.queries.map(\.queries).reduce(0, +) == (count + 4) / 5)
      #expect(server.requests.count == (count + 4) / 5)
      for (number, name) in Self.names(count).enumerated() {
        let known = resolver.cached(try HostName(name))
        let expected: Set = ["192.0.2.\(number % 250)", IPAddress("2001:db8::\(number + 1)")?.description ?? ""]
        #expect(Set(known?.texts ?? []) == expected)
      }
      // All fresh: a second warm-up asks nobody.
      _ = try await Self.warmUp(Self.names(count), resolver)
      #expect(server.requests.count == (count + 4) / 5)
    }
  }

  @Test func `one family makes no more queries, and callers who come meanwhile share them`() async throws {
    try await Self.running(10) { server, resolver in
      server.misbehave(.hold)
      async let report = Self.warmUp(Self.names(10), resolver) { $0.families = .ipv4 }
      await server.waitForHeld(2)
      async let other = resolver.resolve("n3.example.test", options: LookupOptions(families: .ipv4))
      server.release()
      server.behave()
      let (warmed, known) = try await (report, other)
      #expect(warmed.readiness == .complete)
      #expect(known.texts == ["192.0.2.3"])
      #expect(server.requests.count == 2)
    }
  }

  @Test func `names that do not exist or have no address of a family are answers like any other`() async throws {
    let names = ["missing.example.test", "four.example.test"] + Self.names(3)
    try await Self.running(3, "/v2/d?id=7", edit: { $0.add("four.example.test", "192.0.2.99", ttl: 600) }) {
      server, resolver in
      let report = try await Self.warmUp(names, resolver)
      #expect(report.negative == 1 && report.answered == 4)
      #expect(server.requests.count == 1)
    }
  }

  // MARK: When a batch fails

  private static func isBatch(_ request: RecordedRequest) -> Bool {
    (request.value("host") ?? request.value("dn") ?? "").contains(",")
  }

  @Test(arguments: [Misbehaviour.vendorError("InvalidHost", status: 403)])
  func `where one name spoils the query each is asked for by itself`(_ misbehaviour: Misbehaviour) async throws {
    try await Self.running(10) { server, resolver in
      server.misbehave(misbehaviour, when: Self.isBatch)
      let report = try await Self.warmUp(Self.names(10), resolver)
      #expect(report.readiness == .complete)
      #expect(server.requests.count == 2 + 20)
      #expect(resolver.providerStatus.map(\.isBreakerOpen) == [false])
    }
  }

  @Test(arguments: [
    Misbehaviour.status(404), .status(405), .html, .body([0x5b, 0x5d]), .vendorError("TooManyHosts", status: 403),
    .vendorError("TooManyHosts", status: 400),
  ])
  func `a server that does not know such queries is asked none any more`(_ misbehaviour: Misbehaviour) async throws {
    try await Self.running(50) { server, resolver in
      server.misbehave(misbehaviour, when: Self.isBatch)
      let report = try await Self.warmUp(Self.names(50), resolver) { $0.concurrency = 5 }
      #expect(report.readiness == .complete)
      #expect(server.requests.count { Self.isBatch($0) } == 1)
      #expect(server.requests.count == 1 + 100)
      #expect(resolver.providerStatus.map(\.isBreakerOpen) == [false])
    }
  }

  @Test func `a name that a reply leaves out is asked for by itself`() async throws {
    try await Self.running(5) { server, resolver in
      let entry = #"{"host":"n1.example.test","type":1,"ips":["192.0.2.1"],"ttl":60}"#
      server.misbehave(.body(Array(#"{"dns":[\#(entry)]}"#.utf8)), when: Self.isBatch)
      let report = try await Self.warmUp(Self.names(5), resolver) { $0.families = .ipv4 }
      #expect(report.readiness == .complete)
      #expect(server.requests.count == 1 + 4)
      #expect(!server.requests.dropFirst().contains { $0.value("host") == "n1.example.test" })
    }
  }

  @Test(arguments: [Misbehaviour.status(500), .close])
  func `where the server is out the next provider is asked for each`(_ misbehaviour: Misbehaviour) async throws {
    var records = RecordTable()
    for name in Self.names(5) { records.add(name, "192.0.2.77", ttl: 600) }
    let second = try await FakeProvider.start(records: records)
    try await Self.running(5, second: second) { server, resolver in
      server.misbehave(misbehaviour)
      let report = try await Self.warmUp(Self.names(5), resolver) { $0.families = .ipv4 }
      #expect(report.readiness == .complete)
      #expect(server.requests.count <= 2)
      #expect(second.requests.count == 5)
    }
    await second.stop()
  }

  @Test func `where there is no other provider a batch is the only query, and the report says why it failed`()
    async throws
  {
    try await Self.running(5) { server, resolver in
      server.misbehave(.status(503))
      let report = try await Self.warmUp(Self.names(5), resolver)
      #expect(report.readiness == .missed && report.failed == 5)
      #expect(server.requests.count == 1)
      let error = await #expect(throws: DirectDNSError.self) { try await resolver.resolve("n0.example.test") }
      #expect(error?.attempts.first?.reason == "HTTP 503")
    }
  }

  // MARK: What a reply says

  @Test(
    arguments: [
      (ProviderFailure(.response, "InvalidHost"), 403, "none"),
      (ProviderFailure(.rateLimited(retryAfter: nil), "429"), 429, "none"),
      (ProviderFailure(.transport, "HTTP 404"), 404, "refused"),
      (ProviderFailure(.transport, "not JSON"), 200, "refused"),
      (ProviderFailure(.transport, "HTTP 503"), 503, "failed"),
      (ProviderFailure(.transport, "HTTP 403"), 403, "failed"),
      (ProviderFailure(.transport, "timed out"), nil, "failed"),
      (ProviderFailure(.cancelled, "cancelled"), nil, "failed"),
    ] as [(ProviderFailure, Int?, String)])
  func `what a failure means for its names follows from the reply`(
    _ failure: ProviderFailure, _ status: Int?, _ expected: String
  ) {
    let reading = BatchReading(failure, status: status)
    let text =
      switch reading {
      case .answers: "answers"
      case .answersNone: "none"
      case .refused: "refused"
      case .serverFailed: "failed"
      }
    #expect(text == expected)
    let question = AddressQuestion(Sample.name("a.example"), .ipv4)
    #expect(reading.results(of: [question]).count == 1)
    guard case .failure(let told) = reading.health(of: [question]) else {
      Issue.record("an answer")
      return
    }
    // What cannot be read may come from anyone: it is a failure of the server's, as with one question.
    #expect(told.kind == (status == 404 ? .response : failure.kind))
  }
}
