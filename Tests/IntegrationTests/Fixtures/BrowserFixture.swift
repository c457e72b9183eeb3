// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import HTTPTypes

/// A browser that runs a page's script behind a proxy of its own, and a site whose DNS a test changes under the page.
///
/// The site answers at 127.0.0.2 and at 127.0.0.3. At 127.0.0.1 and the same port is what no page is to reach. Every
/// response ends its connection, and every step those that a browser has opened ahead: the next request looks its name up.
final class BrowserFixture: Sendable {
  static let shop = "shop.test"
  /// What the script tells goes there, and always comes.
  private static let report = "report.test"
  private static let names = [shop, report, "api.test", "loop.test", "cloud.test"]

  let provider: FakeProvider
  let sites: [FakeOrigin]
  let inside: FakeOrigin
  let port: UInt16
  private let reporter: FakeOrigin
  private let trust: BrowserTrust?
  private let behaviour: Behaviour
  private let folder: URL

  /// What the site does beside serving files.
  private final class Behaviour: Sendable {
    let page = Locked("")
    let step = Locked<@Sendable (String) async -> Void>({ _ in })
    let reports: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (reports, continuation) = AsyncStream.makeStream(of: String.self) }

    func answer(_ request: RecordedRequest, at address: IPAddress) async -> OriginResponse {
      var response = OriginResponse(.ok, fields: [.contentType: "text/html; charset=utf-8"])
      let text = String(decoding: request.body, as: UTF8.self)
      switch request.path {
      case "/": response = OriginResponse(.ok, fields: response.fields, body: page.withLock(\.self))
      case "/step": await step.withLock(\.self)(text)
      case "/report": continuation.yield(text)
      case "/where": response = OriginResponse(body: "\(address)")
      case "/digest": response = OriginResponse(body: "\(request.bodyLength) \(request.bodyHash)")
      case "/download":
        response = OriginResponse(.ok, fields: [.contentDisposition: "attachment; filename=a.bin"], body: "bytes")
      case "/form": response = OriginResponse(body: text)
      case "/login": response = OriginResponse(.found, fields: [.location: "/welcome", .setCookie: "session=1"])
      case "/welcome": response = OriginResponse(body: request.field("Cookie") ?? "no cookie")
      default: response = OriginResponse(.notFound)
      }
      response.fields[.connection] = "close"
      response.fields[.cacheControl] = "no-store"
      response.fields[.accessControlAllowOrigin] = "*"
      response.hangsUp = true
      return response
    }
  }

  private init(_ scheme: BrowserScheme, ttl: UInt32) async throws {
    let behaviour = Behaviour()
    let free = try LoopbackPort.free()
    (self.behaviour, port) = (behaviour, free)
    folder = try ServerFixture.newFolder("browser")
    let trust = scheme == .https ? try await BrowserTrust(names: Self.names, in: folder) : nil
    self.trust = trust
    func origin(_ last: UInt32) async throws -> FakeOrigin {
      let address = IPAddress.ipv4(0x7f00_0000 + last)
      // Streams of one connection would not be looked up each.
      let configuration = FakeOriginConfiguration(
        identity: trust?.identity, httpVersions: [.http1], address: address, port: Int(free))
      return try await .start(configuration: configuration) { await behaviour.answer($0, at: address) }
    }
    sites = [try await origin(2), try await origin(3)]
    inside = try await origin(1)
    reporter = try await origin(4)
    provider = try await FakeProvider.start()
    point([Self.shop: ["127.0.0.2"], "api.test": ["127.0.0.3"]], ttl: ttl)
  }

  /// Changes what DNS says from now on.
  func point(_ names: [String: [String]], ttl: UInt32) {
    var records = RecordTable()
    records.add(Self.report, "127.0.0.4", ttl: 3600)
    for (name, addresses) in names { records.add(name, addresses.compactMap { IPAddress($0) }, ttl: ttl) }
    provider.records = records
  }

  /// Has a browser run a script as the page of the shop.
  ///
  /// - Parameters:
  ///   - browser: the browser.
  ///   - scheme: of the page, and of all that it asks for.
  ///   - ttl: how long answers live.
  ///   - warm: names that are looked up before it starts, where it can do that.
  ///   - script: the body of an asynchronous function. `step` waits until the test has done something, `pause` waits for so many
  ///     milliseconds, `site` is this fixture's URL of a name.
  ///   - step: what the test does.
  /// - Returns: what the script returned, as JSON, and the fixture as it was left.
  /// - Throws: that something could not be started.
  static func play(
    _ browser: BrowserKind, _ scheme: BrowserScheme, ttl: UInt32 = 0, warm: [String] = [], _ script: String,
    step: @escaping @Sendable (String, BrowserFixture) async -> Void = { _, _ in }
  ) async throws -> (told: String, fixture: BrowserFixture) {
    let fixture = try await BrowserFixture(scheme, ttl: ttl)
    fixture.behaviour.page.withLock { $0 = fixture.page(script) }
    fixture.behaviour.step.withLock {
      $0 = { [unowned fixture] name in
        await step(name, fixture)
        for site in fixture.sites { await site.closeConnections() }
      }
    }
    let result: Result<String, any Error>
    do { result = .success(try await fixture.run(browser, warm)) } catch { result = .failure(error) }
    for server in fixture.sites + [fixture.inside, fixture.reporter] { await server.stop() }
    await fixture.provider.stop()
    return (try result.get(), fixture)
  }

  private var scheme: BrowserScheme { trust == nil ? .http : .https }

  private func page(_ script: String) -> String {
    // A browser would ask for an icon of its own accord, and a lookup of that is joined by one that comes after a step.
    """
    <!doctype html><title>shop</title><link rel="icon" href="data:,"><body><script>
    const site = name => `\(scheme)://${name}:\(port)`
    const tell = (path, body) => fetch(site('\(Self.report)') + path, { method: 'POST', mode: 'no-cors', body })
    const step = name => tell('/step', name)
    const pause = time => new Promise(done => setTimeout(done, time))
    const play = async () => { \(script) }
    addEventListener('load', () => play().catch(error => ({ error: String(error) }))
      .then(told => tell('/report', JSON.stringify(told))))
    </script></body>
    """
  }

  private func run(_ browser: BrowserKind, _ warm: [String]) async throws -> String {
    let configuration = folder.appending(path: "directdns.json5")
    try """
    {
      providers: ["json+\(provider.url("/resolve"))"], system: false,
      cache: { minimumTTL: 1, grace: 0 },
      addressPolicy: { allow: ["127.0.0.2/32", "127.0.0.3/32", "127.0.0.4/32"] },
    }
    """.write(to: configuration, atomically: false, encoding: .utf8)
    let programs = folder.appending(path: "bin")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: programs.appending(path: "dnsctl"), withDestinationURL: Program.url)
    var environment = [
      "PATH": "\(programs.path):/usr/bin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
      "DIRECTDNS_CONFIG": configuration.path, "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    ]
    let screen = try await browser.screen(in: folder)
    if let screen { environment.merge(screen.variables) { $1 } }
    let words = browser.words("\(scheme)://\(Self.shop):\(port)/", warm: warm, trusting: trust, in: folder)
    let program = ServerProcess(
      program: "/usr/bin/env", arguments: ["-i"] + environment.map { "\($0.key)=\($0.value)" } + words, folder: folder,
      ports: [])
    try await program.start()
    // A page that never tells anything is a failure that its log explains.
    let told = await withTaskGroup(of: String?.self) { group in
      group.addTask { await self.behaviour.reports.first { _ in true } }
      group.addTask {
        try? await Task.sleep(for: .seconds(40))
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    try await program.stop()
    try await screen?.process.stop()
    guard let told else {
      let log = (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? ""
      throw ServerFixture.Failure("the page tells nothing: \(log.suffix(2000))")
    }
    return told
  }
}
