// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A server of TLS 1.1 alone, where OpenSSL's configuration lets that pass.
@Suite(.enabled(if: ServerFixture.missing.isEmpty, "not every server is installed"), .timeLimit(.minutes(1)))
struct OldTLSTests {
  /// openssl.cnf(5): what a machine has whose operator needs an old server.
  private static let settings = """
    openssl_conf = start
    [start]
    ssl_conf = ssl
    [ssl]
    system_default = least
    [least]
    MinProtocol = TLSv1
    CipherString = DEFAULT@SECLEVEL=0

    """

  private func withServer(
    _ body: (_ place: String, _ certificate: LabCertificate, _ environment: [String: String]) async throws -> Void
  ) async throws {
    let folder = try ServerFixture.newFolder("old-tls")
    let file = folder.appending(path: "openssl.cnf").path
    try Self.settings.write(toFile: file, atomically: false, encoding: .utf8)
    guard let program = ServerFixture.path(of: "openssl") else { throw ServerFixture.Failure("no openssl") }
    let certificate = try await LabCertificate.shared
    let port = try LoopbackPort.free()
    let server = ServerProcess(
      program: program,
      arguments: [
        "s_server", "-www", "-accept", "127.0.0.1:\(port)", "-cert", certificate.chainFile, "-key",
        certificate.keyFile, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0",
      ], folder: folder, ports: [port])
    try await server.start()
    try await body("127.0.0.1:\(port)", certificate, ["OPENSSL_CONF": file])
    try await server.stop()
  }

  @Test func `neither providers nor origins are spoken to by less than TLS 1.2`() async throws {
    try await withServer { place, certificate, environment in
      let variables = environment.map { "\($0)=\($1)" }
      let curl = ["curl", "--silent", "--noproxy", "*", "--cacert", certificate.caFile, "https://\(place)/"]
      #expect(try await ServerFixture.run("env", variables + curl).status == 0, "the server is of no use")
      let program = try Program()
      let provider = "doh+https://\(place)/dns-query"
      for arguments in [
        ["resolve", "--no-system", "--ca", certificate.caFile, "--provider", provider, "www.lab.test"],
        ["fetch", "--allow", "127.0.0.0/8", "--cacert", certificate.caFile, "https://\(place)/"],
      ] {
        let outcome = try await program.run(arguments, environment: environment)
        #expect(outcome.status == 2 && outcome.errors.contains("protocol version"), "\(outcome)")
      }
    }
  }
}
