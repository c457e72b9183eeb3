// SPDX-License-Identifier: Apache-2.0
import Foundation

/// dnsdist: DNS over HTTPS in front of an unbound of its own.
struct DNSDist: DoHServer {
  static let name = "dnsdist"

  let process: ServerProcess
  let port: UInt16
  let caFile: String
  /// Who has the answers; killing it leaves an endpoint that accepts queries and has nothing to say.
  let backend: Unbound

  init() async throws {
    let certificate = try await LabCertificate.shared
    let folder = try ServerFixture.newFolder(Self.name)
    backend = try await Unbound()
    port = try LoopbackPort.free()
    let dnsPort = try LoopbackPort.free()
    caFile = certificate.caFile
    // The backend counts as up whatever happens to it: health checks would make a test wait for their rhythm.
    // The security poll would ask the internet for news.
    let configuration = """
      setSecurityPollSuffix("")
      setACL({"127.0.0.0/8"})
      setMaxTCPClientThreads(1)
      setUDPTimeout(1)
      setLocal("127.0.0.1:\(dnsPort)")
      newServer({address="127.0.0.1:\(backend.dnsPort)"})
      getServer(0):setUp()
      addDOHLocal("127.0.0.1:\(port)", "\(certificate.chainFile)", "\(certificate.keyFile)", "/dns-query")
      """
    let file = folder.appending(path: "dnsdist.conf")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    process = ServerProcess(
      program: try ServerFixture.server("dnsdist", copiedTo: folder),
      arguments: ["--supervised", "--disable-syslog", "-C", file.path], folder: folder, ports: [port])
  }

  func start() async throws {
    try await backend.start()
    try await process.start()
  }

  func stop() async throws {
    try await process.stop()
    try await backend.stop()
  }

  func kill() async throws {
    try await process.kill()
    try await backend.kill()
  }
}
