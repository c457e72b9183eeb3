// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Requests to an origin that says whatever it likes: each ends once and in time, and the next one to a good origin is fine.
@Suite("Attacks by origins", .serialized, .timeLimit(.minutes(60)))
struct OriginAttackTests {
  /// What one client asks of one hostile origin and of a good one.
  private struct Worker: Sendable {
    let client: DirectClient
    let hostile: HostileServer
    let good: FakeOrigin

    init() async throws {
      client = try ClientSample.client { $0.redirects = RedirectConfiguration() }
      hostile = try await HostileServer.start()
      good = try await FakeOrigin.start { _ in OriginResponse(body: "good") }
    }

    func stop() async {
      await client.shutdown(within: .zero)
      await hostile.stop()
      await good.stop()
    }

    /// The requests of a seed, one after the other, so that the second finds what the first has left.
    func attack(_ seed: UInt64, _ tally: Locked<[String: Int]>) async throws {
      let script = HostileScript(seed: seed)
      await hostile.play(script)
      var dice = Dice(seed: ~seed)
      let options = RequestOptions(
        timeouts: RequestTimeouts(connect: .seconds(5), firstByte: .milliseconds(500), total: .milliseconds(500)),
        redirects: dice.chance(2) ? .asConfigured : .returned, httpVersion: script.language == .http1 ? .http1 : .http2,
        decompresses: dice.chance(3))
      let count = 1 + dice.number(below: 3)
      // Lines are folded behind an answer that is fine.
      for _ in 0..<(script.foldsLines ? 3 : count) {
        let method = dice.one(of: [HTTPRequest.Method.get, .get, .head, .put])
        let request = HTTPRequest(method: method, url: try WebURL("http://shop.test:\(hostile.port)/"))
        let began = ContinuousClock.now
        let outcome = await Self.outcome(of: client, request, options)
        // Half a second is what the request has. The rest is what a machine takes that is busy with a sanitizer and with others.
        #expect(ContinuousClock.now - began < .seconds(20), "DIRECTDNS_SEED=\(seed): \(outcome) came too late")
        tally.withLock { $0[outcome, default: 0] += 1 }
      }
    }

    /// What became of a request, its body included.
    private static func outcome(of client: DirectClient, _ request: HTTPRequest, _ options: RequestOptions) async
      -> String
    {
      do throws(DirectDNSError) {
        let body: RequestBody = request.method == .put ? .text("body") : .none
        let response = try await client.execute(request, body: body, options: options)
        // More than that is not wanted: it is left where it is.
        _ = try await response.body.collect(upTo: 1 << 18)
        return "answered"
      } catch {
        #expect(error.message.printable == error.message)
        return "\(error.code)"
      }
    }

    func checkGood(_ seed: UInt64) async throws {
      let response = try await client.execute(ClientSample.get(good.url("/", host: "shop.test")))
      let text = try await response.body.text()
      #expect(response.status == .ok && text == "good", "DIRECTDNS_SEED=\(seed): the next request is not fine")
    }
  }

  private static let workers = 8

  @Test func `whatever an origin says, a request ends once and in time, and the next one is fine`() async throws {
    let tally = Locked<[String: Int]>([:])
    let warm = Locked(0)
    let most = Locked(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.workers {
        group.addTask {
          let worker = try await Worker()
          for (index, seed) in AttackSeeds.seeds(number, of: Self.workers, usually: 80).enumerated() {
            do {
              try await worker.attack(seed, tally)
              try await worker.checkGood(seed)
            } catch {
              Issue.record("DIRECTDNS_SEED=\(seed): \(error)")
            }
            // What is used for the first time is there by now.
            if index == 250 { warm.withLock { $0 = max($0, ProcessState.memory) } }
            if index > 250 { most.withLock { $0 = max($0, ProcessState.memory) } }
          }
          await worker.stop()
        }
      }
      try await group.waitForAll()
    }
    let outcomes = tally.withLock { $0 }
    print(
      "figures: attacks by origins: \(outcomes.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
    )
    // Neither all is refused nor all is taken: the attacks come from both sides of what is allowed.
    if AttackSeeds.seeds(0, of: 1, usually: 80).count > 30 {
      #expect(outcomes["answered", default: 0] > 8 && outcomes.count > 2)
    }
    guard AttackSeeds.isLong else { return }
    let growth = most.withLock { $0 } - warm.withLock { $0 }
    print("figures: memory \(warm.withLock { $0 } >> 20) MiB after 2000 attacks, at most \(growth >> 20) MiB more")
    #expect(growth < 64 << 20)
  }

  @Test func `the ordinary attacks fold the first line of later heads, early ones too, and of trailers`() {
    let said = (1...80 as ClosedRange<UInt64>).map { HostileScript(seed: $0) }.filter(\.foldsLines).flatMap { script in
      (1...2).map { number in
        script.steps(request: number, stream: 0).reduce(into: "") { text, step in
          if case .send(let bytes) = step { text += String(decoding: bytes, as: UTF8.self) }
        }
      }
    }
    for start in [
      "HTTP/1.1 200 OK\r\n", "Link: </x>\r\n\r\nHTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n",
      "HTTP/1.1 204 No Content\r\n", "\r\n0\r\n",
    ] {
      let count = said.count { $0.contains(start + " ") || $0.contains(start + "\t") }
      #expect(count > 1, "\(start.debugDescription): \(count) of \(said.count)")
    }
  }

  @Test func `the same seed makes the same attack`() {
    func said(_ seed: UInt64) -> [String] { HostileScript(seed: seed).steps(request: 0, stream: 1).map { "\($0)" } }
    for seed: UInt64 in 0..<40 { #expect(said(seed) == said(seed)) }
    #expect(Set((0..<40).map(said)).count > 30)
  }
}
