// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation

/// A web server whose names one provider alone knows, and programs that reach it through `dnsctl exec` or `dnsctl proxy`.
final class ProxyProgramFixture: Sendable {
  let site: NginxSite
  let provider: FakeProvider
  private let folder: URL

  /// A name whose addresses the policy forbids.
  static let inside = "inside.lab.test"
  /// A name that does not exist.
  static let unknown = "unknown.lab.test"
  /// The bytes of what is called a large file: a tenth where a program that is not optimised would take minutes.
  #if DEBUG
    static let largeFile = 10 << 20
  #else
    static let largeFile = 100 << 20
  #endif

  private init() async throws {
    folder = try ServerFixture.newFolder("proxy")
    site = try await NginxSite()
    var records = RecordTable()
    for name in [LabSite.www, LabSite.api, "doh.lab.test"] { records.add(name, "127.0.0.1") }
    records.add(Self.inside, "169.254.169.254", "10.0.0.1")
    provider = try await FakeProvider.start(records: records)
    try await site.start()
  }

  static func running<Result>(_ body: (ProxyProgramFixture) async throws -> Result) async throws -> Result {
    let fixture = try await ProxyProgramFixture()
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
    try await fixture.site.stop()
    await fixture.provider.stop()
    return try result.get()
  }

  var plain: String { "http://\(LabSite.www):\(site.httpPort)" }
  var secure: String { "https://\(LabSite.www):\(site.port)" }

  /// The options by which names are known, and the site may be reached.
  var options: [String] {
    ["--provider", "json+\(provider.url("/resolve"))", "--no-system", "--allow", "127.0.0.0/8"]
  }

  /// What a run came to; both streams together.
  struct Outcome: CustomStringConvertible {
    var status: Int32
    var output: String

    var description: String { "status \(status)\n\(output)" }
  }

  /// Runs a program through a proxy of its own.
  func exec(_ words: [String], options more: [String] = []) async throws -> Outcome {
    try await run([Program.url.path, "exec"] + options + more + ["--"] + words)
  }

  /// Runs a program with nothing in its environment but this.
  func run(_ words: [String], environment: [String: String] = [:]) async throws -> Outcome {
    let variables = [
      "PATH": "/usr/bin:/bin", "HOME": folder.path, "TMPDIR": folder.path, "CA_FILE": site.caFile,
      "SSL_CERT_FILE": site.caFile, "NODE_EXTRA_CA_CERTS": site.caFile,
    ].merging(environment) { $1 }
    let (status, output) = try await ServerFixture.run(
      "sh", ["-c", "exec env -i \"$@\" 2>&1", "sh"] + variables.map { "\($0.key)=\($0.value)" } + words)
    return Outcome(status: status, output: String(decoding: output, as: UTF8.self))
  }

  /// Runs a proxy with the options and more while `body` uses its port; what it says goes to `log` in the folder.
  func withProxy<Result>(
    _ more: [String], in folder: URL? = nil, _ body: (UInt16) async throws -> Result
  ) async throws -> Result {
    let port = try LoopbackPort.free()
    let proxy = ServerProcess(
      program: Program.url.path, arguments: ["proxy", "--listen", "127.0.0.1:\(port)"] + options + more,
      folder: try folder ?? ServerFixture.newFolder("proxy"), ports: [port])
    try await proxy.start()
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(port)) } catch { result = .failure(error) }
    try await proxy.stop()
    return try result.get()
  }

  /// Runs a server of `Tests/Clients` while `body` uses its two ports, the second one for TLS.
  ///
  /// The provider knows its name, `doh.lab.test`.
  func withServer(
    _ name: String, _ arguments: [String] = [], _ body: ([UInt16], LabCertificate) async throws -> Void
  ) async throws {
    let certificate = try await LabCertificate.shared
    let ports = [try LoopbackPort.free(), try LoopbackPort.free()]
    let server = ServerProcess(
      program: "/usr/bin/python3",
      arguments: [ProxyClient.file(name)] + arguments
        + ["\(ports[0])", "\(ports[1])", certificate.chainFile, certificate.keyFile],
      folder: try ServerFixture.newFolder("server"), ports: ports)
    try await server.start()
    let result: Swift.Result<Void, any Error>
    do { result = .success(try await body(ports, certificate)) } catch { result = .failure(error) }
    try await server.stop()
    try result.get()
  }

  /// A file of so many random bytes.
  func file(_ count: Int) async throws -> URL {
    let file = folder.appending(path: "random-\(count)")
    guard try await run(["openssl", "rand", "-out", file.path, "\(count)"]).status == 0 else {
      throw ServerFixture.Failure("there is no file of \(count) bytes")
    }
    return file
  }

  /// A place for a file that comes.
  var place: URL { folder.appending(path: "came-\(UInt32.random(in: 0 ... .max))") }

  /// The digests of files, in hexadecimal digits.
  func digests(_ files: [URL]) async throws -> Set<String> {
    let outcome = try await run(["sha256sum"] + files.map(\.path))
    return Set(outcome.output.split(separator: "\n").map { String($0.prefix(64)) })
  }
}
