// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import Foundation

/// A Redis server on a socket of its own, which keeps nothing.
struct Redis {
  static let isInstalled = ServerFixture.path(of: "redis-server") != nil

  let process: ServerProcess
  let port: UInt16

  init(arguments more: [String] = []) throws {
    let folder = try ServerFixture.newFolder("redis")
    port = try LoopbackPort.free()
    process = ServerProcess(
      program: try ServerFixture.server("redis-server", copiedTo: folder),
      arguments: [
        "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--appendonly", "no",
        "--daemonize", "no",
      ] + more,
      folder: folder, ports: [port])
  }

  var url: String { "redis://127.0.0.1:\(port)" }

  func store(password: String? = nil, timeout: Duration = .milliseconds(500)) throws -> RedisAnswerStore {
    var configuration = try RedisStoreConfiguration(url: url)
    configuration.password = password.map { .init($0) }
    configuration.timeout = timeout
    return RedisAnswerStore(configuration)
  }

  /// Runs a command by the server's own client.
  func client(_ arguments: String...) async throws -> String {
    let (_, output) = try await ServerFixture.run("redis-cli", ["-p", "\(port)"] + arguments)
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A new server, running while `body` does.
  static func running<Result>(_ more: String..., body: (Redis) async throws -> Result) async throws -> Result {
    let server = try Redis(arguments: more)
    try await server.process.start()
    do {
      let result = try await body(server)
      try await server.process.stop()
      return result
    } catch {
      try await server.process.stop()
      throw error
    }
  }
}
