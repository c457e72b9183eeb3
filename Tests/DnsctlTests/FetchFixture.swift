// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation

@testable import DirectDNS
@testable import DnsctlCommands

/// A fixture with one web server at loopback behind every name of `example`, and a folder of its own.
struct FetchFixture: Sendable {
  let origin: FakeOrigin
  let folder: String

  /// Starts the server, and stops it behind the test.
  static func with(
    _ configuration: FakeOriginConfiguration = .init(), handler: @escaping FakeOrigin.Handler = OriginResponse.echo,
    _ test: (FetchFixture) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dnsctl-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let origin = try await FakeOrigin.start(configuration: configuration, handler: handler)
    try await test(FetchFixture(origin: origin, folder: folder))
    await origin.stop()
  }

  /// Runs `dnsctl fetch` as a shell would.
  func fetch(_ arguments: [String], input: [String] = [], in changed: CommandFixture? = nil) async
    -> CommandFixture.Outcome
  {
    var fixture = changed ?? CommandFixture()
    for name in ["shop.example", "other.example"] { fixture.zone[name] = .addresses(["127.0.0.1"]) }
    fixture.zone["gone.example"] = .missing
    if !input.isEmpty { fixture.input = ScriptedInput(input) }
    return await fixture.run(
      ["fetch", "--provider", "google", "--no-system", "--allow", "127.0.0.0/8"] + arguments)
  }

  /// The URL of a path at one of the names.
  func url(_ path: String = "/", host: String = "shop.example") -> String { origin.url(path, host: host) }

  /// A place in the folder.
  func path(_ name: String) -> String { folder + "/" + name }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: path(name), atomically: false, encoding: .utf8)
  }

  /// A file's text; nothing if there is no such file.
  func read(_ name: String) -> String? {
    FileManager.default.contents(atPath: path(name)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names of all files.
  var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }
}
