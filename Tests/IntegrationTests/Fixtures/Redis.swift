// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import DirectDNSTesting
import Foundation

/// A Redis server on a socket of its own, which keeps nothing.
struct Redis {
  static let isInstalled = ServerFixture.path(of: "redis-server") != nil

  let process: ServerProcess
  let port: UInt16
  private let isSecure: Bool

  /// - Parameters:
  ///   - more: further settings.
  ///   - tls: what it shows to clients, on the one port that it has then, and by whom clients' certificates are.
  /// - Throws: the file system's error, or that there is no such program.
  init(arguments more: [String] = [], tls: (identity: TLSIdentity, authority: TestCertificateAuthority)? = nil) throws {
    let folder = try ServerFixture.newFolder("redis")
    port = try LoopbackPort.free()
    isSecure = tls != nil
    var ports = ["--port", "\(port)"]
    if let tls {
      ports = ["--port", "0", "--tls-port", "\(port)"]
      for (option, text) in [
        ("cert", tls.identity.certificates[0]), ("key", tls.identity.privateKey),
        ("ca-cert", tls.authority.certificate),
      ] {
        let file = folder.appending(path: option + ".pem")
        try Data((text + "\n").utf8).write(to: file)
        ports += ["--tls-\(option)-file", file.path]
      }
    }
    process = ServerProcess(
      program: try ServerFixture.server("redis-server", copiedTo: folder),
      arguments: ports + [
        "--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--appendonly", "no",
        "--daemonize", "no",
      ] + more,
      folder: folder, ports: [port])
  }

  var url: String { "redis\(isSecure ? "s" : "")://127.0.0.1:\(port)" }

  /// A store on it, which waits longer than a busy machine takes unless a test wants to see it give up.
  func store(password: String? = nil, timeout: Duration = .seconds(20)) throws -> RedisAnswerStore {
    var configuration = try RedisStoreConfiguration(url: url)
    configuration.password = password.map { .init($0) }
    (configuration.connectTimeout, configuration.timeout) = (timeout, timeout)
    return RedisAnswerStore(configuration)
  }

  /// Runs a command by the server's own client.
  func client(_ arguments: String...) async throws -> String {
    let (_, output) = try await ServerFixture.run("redis-cli", ["-p", "\(port)"] + arguments)
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A new server, running while `body` does.
  static func running<Result>(
    _ more: String..., tls: (identity: TLSIdentity, authority: TestCertificateAuthority)? = nil,
    body: (Redis) async throws -> Result
  ) async throws -> Result {
    let server = try Redis(arguments: more, tls: tls)
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
