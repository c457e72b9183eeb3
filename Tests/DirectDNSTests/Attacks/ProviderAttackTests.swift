// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Lookups whose first provider says whatever it likes: each is answered once and in time, by it or by the next one.
@Suite("Attacks by providers", .serialized, .timeLimit(.minutes(60)))
struct ProviderAttackTests {
  private static let host = HostName(canonical: "www.shop.test")

  /// A reply that could be one, for a format.
  private static func content(_ format: String, _ dice: inout Dice) -> HostileScript.Content {
    let address = dice.one(of: [IPAddress.ipv4(0xCB00_7107), .ipv4(0)])
    let ttl = dice.one(of: [UInt32(60), 0, .max])
    if format == "doh" {
      let question = DNSQuestion(name: DNSName(host), type: dice.one(of: [.a, .a, .aaaa]))
      let record = DNSRecord(owner: question.name, type: .a, ttl: ttl, data: .address(address))
      var message = DNSMessage(
        isResponse: true, questions: [question], answers: Array(repeating: record, count: dice.one(of: [0, 1, 300])))
      message.responseCode = .init(rawValue: dice.one(of: [0, 0, 0, 2, 3]))
      return .init(type: "application/dns-message", bytes: message.encoded())
    }
    let row = "{\"name\":\"www.shop.test.\",\"type\":1,\"TTL\":\(ttl),\"data\":\"\(address)\"}"
    let rows = Array(repeating: row, count: dice.one(of: [0, 1, 300])).joined(separator: ",")
    let text =
      "{\"Status\":\(dice.one(of: [0, 0, 3, 2, 70000])),\"Question\":[{\"name\":\"www.shop.test.\",\"type\":1}],\"Answer\":[\(rows)]}"
    return .init(type: "application/json", bytes: Array(text.utf8))
  }

  /// Who answers: a hostile provider without TLS for HTTP/1.1, one with TLS for HTTP/2, and an honest one.
  private struct Worker: Sendable {
    let plain: HostileServer
    let secure: HostileServer
    let honest: FakeProvider
    let file: CAFile

    init() async throws {
      let authority = try TestCertificateAuthority()
      file = try authority.makeFile()
      plain = try await HostileServer.start()
      secure = try await HostileServer.start(identity: authority.issue(names: ["dns.test"]))
      honest = try await FakeProvider.start(
        records: RecordTable {
          $0.add("www.shop.test", "203.0.113.8")
          $0.add("other.shop.test", "203.0.113.9")
        })
    }

    func stop() async {
      await plain.stop()
      await secure.stop()
      await honest.stop()
    }
  }

  private static func attack(_ seed: UInt64, _ worker: Worker) async throws -> String {
    var dice = Dice(seed: ~seed)
    let format = dice.one(of: ["doh", "json"])
    let script = HostileScript(seed: seed, content: content(format, &dice))
    let hostile = script.language == .http1 ? worker.plain : worker.secure
    await hostile.play(script)
    let origin = script.language == .http1 ? "http://127.0.0.1" : "https://dns.test"
    let url = try WebURL("\(origin):\(hostile.port)/dns-query")
    let first: any Provider =
      format == "doh" ? MessageProvider(name: "hostile", url: url) : JSONProvider(name: "hostile", url: url)
    var configuration = ResolverConfiguration(providers: [
      ProviderConfiguration(provider: first, bootstrap: script.language == .http1 ? [] : [.ipv4(0x7F00_0001)]),
      ProviderConfiguration(provider: JSONProvider(name: "honest", url: try WebURL(worker.honest.url("/resolve")))),
    ])
    configuration.trust = TrustStore(privateAuthorities: [worker.file.path], environment: [:])
    configuration.usesSystemDNS = false
    configuration.timeout = .seconds(20)
    configuration.families = .ipv4
    let resolver = try DirectResolver(configuration)
    defer { resolver.shutdown() }
    let began = ContinuousClock.now
    // One that is asked twice at once is one lookup, and both callers get what came of it.
    let second = Task.immediate { await Result.of { try await resolver.resolve(host) } }
    let outcome = await Result.of { try await resolver.resolve(host) }
    let other = await second.value
    #expect(ContinuousClock.now - began < .seconds(30), "DIRECTDNS_SEED=\(seed): too late")
    #expect(
      (try? outcome.get().addresses) == (try? other.get().addresses), "DIRECTDNS_SEED=\(seed): two callers, two answers"
    )
    // Behind whatever it says stands an honest one, for the names that it knows nothing of.
    let next = try await resolver.resolve(HostName("other.shop.test"))
    #expect(
      next.addresses == [.ipv4(0xCB00_7109)] || next.source.provider == "hostile", "DIRECTDNS_SEED=\(seed): \(next)")
    switch outcome {
    case .success(let resolution): return resolution.source.provider ?? "another source"
    case .failure(let error):
      // A negative answer is one.
      let code = (error as? DirectDNSError)?.code
      #expect(code == .nameNotFound || code == .noAddress, "DIRECTDNS_SEED=\(seed): \(error)")
      return code.map(\.description) ?? "\(error)"
    }
  }

  @Test func `whatever a provider says, a lookup ends once and in time, and the next one is fine`() async throws {
    let tally = Locked<[String: Int]>([:])
    let answers = Locked((plain: 0, secure: 0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let worker = try await Worker()
          for seed in AttackSeeds.seeds(number, of: 4, usually: 80) {
            do {
              let outcome = try await Self.attack(seed, worker)
              tally.withLock { $0[outcome, default: 0] += 1 }
            } catch {
              Issue.record("DIRECTDNS_SEED=\(seed): \(error)")
            }
          }
          await worker.stop()
          answers.withLock {
            $0.plain += worker.plain.answerCount
            $0.secure += worker.secure.answerCount
          }
        }
      }
      try await group.waitForAll()
    }
    let outcomes = tally.withLock { $0 }
    print(
      "figures: attacks by providers: \(outcomes.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
    )
    guard AttackSeeds.seeds(0, of: 1, usually: 80).count > 30 else { return }
    #expect(outcomes["honest", default: 0] > 20)
    // Both versions were spoken, and both were taken at their word now and then.
    let (plain, secure) = answers.withLock { $0 }
    #expect(plain >= 40 && secure >= 40, "\(plain) \(secure)")
    #expect(outcomes["hostile", default: 0] > 0)
  }
}

extension Result where Failure == any Error {
  /// What became of an operation.
  fileprivate static func of(_ body: () async throws -> Success) async -> Self {
    do { return .success(try await body()) } catch { return .failure(error) }
  }
}
