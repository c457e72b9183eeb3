// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A certificate for the fixture's names and the authority that signed it, made anew for each run.
struct LabCertificate: Sendable {
  /// The authority's certificate: what a client has to trust.
  let caFile: String
  /// The server's certificate and the authority's, in the order servers send them.
  let chainFile: String
  let keyFile: String

  /// The run's certificate.
  static var shared: LabCertificate {
    get async throws { try await making.value }
  }

  private static let making = Task { try await make() }

  private static func make() async throws -> LabCertificate {
    let folder = try ServerFixture.newFolder("pki").path
    func openssl(_ arguments: String...) async throws {
      guard try await ServerFixture.run("openssl", arguments).status == 0 else {
        throw ServerFixture.Failure("openssl \(arguments.joined(separator: " ")) failed")
      }
    }
    func newKey(_ file: String) async throws {
      try await openssl(
        "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "\(folder)/\(file)")
    }
    try await newKey("ca.key")
    try await openssl(
      "req", "-x509", "-new", "-key", "\(folder)/ca.key", "-days", "2", "-subj", "/CN=DirectDNS laboratory",
      "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-out", "\(folder)/ca.pem")
    try await newKey("server.key")
    try await openssl(
      "req", "-new", "-key", "\(folder)/server.key", "-subj", "/CN=doh.lab.test", "-out",
      "\(folder)/server.csr")
    let extensions = """
      basicConstraints = CA:FALSE
      extendedKeyUsage = serverAuth
      subjectAltName = DNS:doh.lab.test, DNS:*.lab.test, IP:127.0.0.1, IP:::1
      """
    try extensions.write(toFile: "\(folder)/extensions", atomically: false, encoding: .utf8)
    try await openssl(
      "x509", "-req", "-in", "\(folder)/server.csr", "-CA", "\(folder)/ca.pem", "-CAkey", "\(folder)/ca.key",
      "-CAcreateserial", "-days", "2", "-extfile", "\(folder)/extensions", "-out", "\(folder)/server.pem")
    let chain = try ["server.pem", "ca.pem"].map {
      try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
    }
    try chain.joined().write(toFile: "\(folder)/chain.pem", atomically: false, encoding: .utf8)
    return LabCertificate(
      caFile: "\(folder)/ca.pem", chainFile: "\(folder)/chain.pem", keyFile: "\(folder)/server.key")
  }
}
