// SPDX-License-Identifier: Apache-2.0
import Foundation

/// BIND's named: DNS over HTTPS and plain DNS, as the zone's own server.
struct Bind: DoHServer {
  static let name = "BIND"

  let process: ServerProcess
  let port: UInt16
  /// Plain DNS, by UDP and TCP.
  let dnsPort: UInt16
  let caFile: String

  init() async throws {
    let certificate = try await LabCertificate.shared
    let folder = try ServerFixture.newFolder(Self.name)
    port = try LoopbackPort.free()
    dnsPort = try LoopbackPort.free()
    caFile = certificate.caFile
    try LabZone.standard.masterFile.write(
      to: folder.appending(path: "zone"), atomically: false, encoding: .utf8)
    // 9.18 wants to be told that there is no such file, and newer ones do not know the option.
    let version = String(decoding: try await ServerFixture.run("named", ["-v"]).output, as: UTF8.self)
    let lockFile = version.contains("BIND 9.18") ? "lock-file none;" : ""
    // No validation: it would fetch the root's keys from the internet.
    let configuration = """
      options {
        directory "\(folder.path)";
        pid-file none;
        \(lockFile)
        session-keyfile none;
        recursion no;
        dnssec-validation no;
        notify no;
        minimal-responses yes;
        allow-query { 127.0.0.0/8; };
        listen-on port \(dnsPort) { 127.0.0.1; };
        listen-on port \(port) tls lab http lab { 127.0.0.1; };
        listen-on-v6 { none; };
      };
      tls lab { key-file "\(certificate.keyFile)"; cert-file "\(certificate.chainFile)"; };
      http lab { endpoints { "/dns-query"; }; };
      controls { };
      zone "lab.test" { type primary; file "\(folder.path)/zone"; };
      """
    let file = folder.appending(path: "named.conf")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    process = ServerProcess(
      program: try ServerFixture.server("named", copiedTo: folder),
      arguments: ["-g", "-n", "1", "-U", "1", "-c", file.path], folder: folder, ports: [port, dnsPort])
  }
}
