// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct LoopTests {
  @Test func `a request brings a response with the fields that were wanted`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    let loop = Loop<CurlQueries>()
    let response = try await loop.perform(.sample(server.url("/resolve?name=www.shop.test")))
    #expect(response.status.code == 200 && response.address == Sample.address("127.0.0.1"))
    #expect(response.contentType?.contains("json") == true && response.age == nil)
    loop.stop()
    await server.stop()
  }

  @Test(arguments: [
    "", "http://", "ftp://127.0.0.1/", "https://127.0.0.1/", "file:///etc/hosts", "gopher://127.0.0.1/",
    "http://127.0.0.1:0x/",
  ])
  func `a URL that libcurl cannot use, or of another scheme, is refused`(_ url: String) async {
    let loop = Loop<CurlQueries>()
    guard case .invalidRequest = await loop.begin(.sample(url)).value.failure else {
      Issue.record("\(url) was taken")
      return
    }
    loop.stop()
  }

  @Test func `dropping the loop ends its thread and its connections`() async throws {
    let server = try await FakeProvider.start(records: ProviderFixture.records)
    var loop: Loop<CurlQueries>? = Loop<CurlQueries>()
    _ = try await loop?.perform(.sample(server.url("/resolve?name=www.shop.test")))
    #expect(server.openConnectionCount == 1)
    // `PID/task/TID`, which is there for as long as the thread is (proc(5)).
    let executor = try #require(loop?.executor)
    let thread = try await withTaskExecutorPreference(executor) {
      try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    }
    #expect(FileManager.default.fileExists(atPath: "/proc/\(thread)/stat"))
    loop = nil
    #expect(await server.waitForOpenConnections(0))
    #expect(await ProcessState.eventually { !FileManager.default.fileExists(atPath: "/proc/\(thread)/stat") })
    await server.stop()
  }

  @Test func `a stopped loop takes no request, started or not`() async throws {
    let loop = Loop<CurlQueries>()
    loop.stop()
    #expect(await loop.begin(.sample("http://127.0.0.1:1/")).value.failure == .shutDown)
    let other = Loop<CurlQueries>()
    _ = await other.begin(.sample("http://127.0.0.1:1/")).value
    other.stop()
    other.stop()
    #expect(await other.begin(.sample("http://127.0.0.1:1/")).value.failure == .shutDown)
  }

  @Test func `loops come and go by the dozen`() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<40 {
        group.addTask {
          let loop = Loop<CurlQueries>()
          let task = loop.begin(.sample("http://127.0.0.1:1/"))
          let isStopped = Bool.random()
          if isStopped { loop.stop() }
          // Nobody listens at port 1. A loop that is stopped may have been told so before.
          let failure = await task.value.failure
          let isRefused = if case .connect = failure { true } else { false }
          #expect(isRefused || isStopped && failure == .shutDown, "\(String(describing: failure))")
        }
      }
    }
  }
}

extension QueryRequest {
  /// A plain GET by that route.
  static func sample(_ url: String, timeout: Int64 = 20_000, route: QueryRoute = .sample()) -> QueryRequest {
    QueryRequest(route: route, message: HTTPMessage(url: url), timeout: timeout)
  }
}

extension QueryRoute {
  static func sample(
    width: Int = 50, host: String = "o.test", addresses: [String] = [], port: Int = 80, scope: Int = 0,
    connections: Int = QueryRoute.connections
  ) -> QueryRoute {
    QueryRoute(
      origin: Origin(Sample.url("http://\(host):\(port)/")), addresses: addresses.map(Sample.address), scope: scope,
      trust: CurlTrust(), width: width, connections: min(width, connections))
  }
}

extension Loop<CurlQueries> {
  /// Begins a request now, so that requests begun one after the other are queued in that order.
  func begin(_ request: QueryRequest) -> Task<Result<HTTPReply, HTTPTransportError>, Never> {
    Task.immediate {
      do throws(HTTPTransportError) { return .success(try await perform(request)) } catch { return .failure(error) }
    }
  }
}

@Suite(.timeLimit(.minutes(1)))
struct LoopExecutorTests {
  /// The number and the name of the thread that calls it (proc(5)).
  private func thread() throws -> String {
    let place = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    return try place + " " + String(contentsOfFile: "/proc/\(place)/comm", encoding: .utf8)
  }

  @Test func `a task runs on the loop's thread, before and after a request`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let url = origin.url("/", host: "shop.test")
    let threads = try await withTaskExecutorPreference(client.executor) { () async throws -> Set<String> in
      var threads: Set<String> = [try thread()]
      for _ in 0..<3 {
        _ = try await client.execute(try ClientSample.get(url)).body.text()
        threads.insert(try thread())
      }
      return threads
    }
    #expect(threads.count == 1)
    // Only the loops' threads are called so: one of Swift's own may have run all of it, too.
    #expect(threads.allSatisfy { $0.contains(" directdns.") }, "\(threads)")
    await origin.stop()
  }

  @Test func `tasks run on their resolver's thread, or with another transport on the shared pool`() async throws {
    let names = (0..<20).map { "n\($0).shop.test" }
    var records = RecordTable()
    for name in names { records.add(name, "192.0.2.1", ttl: 60) }
    let server = try await FakeProvider.start(records: records)
    let provider = JSONProvider(name: "fake", url: try WebURL(server.url("/resolve")))
    var configuration = ResolverConfiguration(providers: [ProviderConfiguration(provider: provider)])
    configuration.families = .ipv4
    let resolver = try DirectResolver(configuration)
    let threads = try await withTaskExecutorPreference(resolver.executor) {
      try await withThrowingTaskGroup(of: String.self) { group in
        for name in names {
          group.addTask {
            _ = try await resolver.resolve(name)
            return try thread()
          }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
    }
    #expect(threads.count == 1 && threads.allSatisfy { $0.contains(" directdns.") }, "\(threads)")
    resolver.shutdown()
    let other = try ResolverFixture().resolver
    #expect(try await withTaskExecutorPreference(other.executor) { try !thread().contains(" directdns.") })
    await server.stop()
  }

  @Test func `tasks run on the thread of a resolver's CurlTransport, whoever made that, until it is shut down`()
    async throws
  {
    let transport = try CurlTransport()
    let resolver = try DirectResolver(transport: transport)
    for isRunning in [true, false] {
      let name = try await withTaskExecutorPreference(resolver.executor) { try thread() }
      #expect(name.contains(" directdns.") == isRunning, "\(name)")
      transport.shutdown()
    }
    resolver.shutdown()
  }

  @Test func `a task on the loop's thread can end the client, and goes on elsewhere`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let url = origin.url("/", host: "shop.test")
    let response = try await withTaskExecutorPreference(client.executor) {
      let response = try await client.execute(try ClientSample.get(url))
      await client.shutdown(within: .zero)
      return response
    }
    #expect(response.status == .ok && client.hasEnded)
    #expect(await origin.waitForOpenConnections(0))
    await origin.stop()
  }

  @Test func `tasks run when the client has ended, too`() async throws {
    let client = try ClientSample.client()
    let executor = client.executor
    await client.shutdown(within: .zero)
    let sum = await withTaskExecutorPreference(executor) {
      await withTaskGroup(of: Int.self) { group in
        for number in 1...10 { group.addTask { number } }
        return await group.reduce(0, +)
      }
    }
    #expect(sum == 55)
  }
}
