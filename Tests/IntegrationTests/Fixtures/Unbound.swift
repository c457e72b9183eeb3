// SPDX-License-Identifier: Apache-2.0
import Foundation

/// unbound: DNS over HTTPS, by HTTP/2 alone, and plain DNS.
struct Unbound: DoHServer {
  static let name = "unbound"

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
    // The static root answers for everything else, the built-in zones such as `test.` included: nothing here
    // ever asks the internet. At `dropped.lab.test` unbound ends the connection that brings the question.
    let configuration = """
      server:
        num-threads: 1
        interface: 127.0.0.1@\(dnsPort)
        interface: 127.0.0.1@\(port)
        https-port: \(port)
        http-endpoint: "/dns-query"
        tls-service-key: "\(certificate.keyFile)"
        tls-service-pem: "\(certificate.chainFile)"
        access-control: 127.0.0.0/8 allow
        directory: "\(folder.path)"
        chroot: ""
        username: ""
        pidfile: ""
        use-syslog: no
        do-daemonize: no
        module-config: "iterator"
        local-zone: "." static
        local-zone: "lab.test." transparent
        local-zone: "dropped.lab.test." deny
      auth-zone:
        name: "lab.test."
        zonefile: "\(folder.path)/zone"
        for-downstream: yes
        for-upstream: no
        fallback-enabled: no
      remote-control:
        control-enable: no
      """
    let file = folder.appending(path: "unbound.conf")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    process = ServerProcess(
      program: try ServerFixture.server("unbound", copiedTo: folder), arguments: ["-d", "-c", file.path],
      folder: folder, ports: [port, dnsPort])
  }
}
