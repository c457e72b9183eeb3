// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

struct ClientIdentityCheckTests {
  /// What a certificate's file and a key's hold, and the complaint about them.
  private func complaint(_ certificate: String, _ key: String?, _ password: Secret? = nil) throws -> String? {
    let folder = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (first, second) = (folder.appending(path: "cert.pem").path, folder.appending(path: "key.pem").path)
    try certificate.write(toFile: first, atomically: true, encoding: .utf8)
    try key?.write(toFile: second, atomically: true, encoding: .utf8)
    do throws(DirectDNSError) {
      try ClientIdentity(certificate: first, key: key == nil ? nil : second, password: password).check()
      return nil
    } catch {
      #expect(error.code == .invalidConfiguration)
      return error.message
    }
  }

  @Test func `a certificate and its key are taken from one file or from two`() throws {
    let identity = try TestCertificateAuthority().issueClient(name: "pipeline")
    #expect(try complaint(identity.certificates[0] + "\n" + identity.privateKey, nil) == nil)
    #expect(try complaint(identity.privateKey + "\n" + identity.certificates[0], nil) == nil)
    #expect(try complaint(identity.certificates[0], identity.privateKey) == nil)
  }

  @Test func `a key with a password is read with that password alone, and it is asked for nowhere`() throws {
    let (certificate, key) = (ClientKeys.certificate, ClientKeys.encrypted)
    #expect(try complaint(certificate, key, "s3cret") == nil)
    #expect(try complaint(certificate, key, "another")?.contains("Check its password.") == true)
    #expect(try complaint(certificate, key)?.contains("If it has a password, give it.") == true)
    #expect(try complaint(certificate, ClientKeys.locked)?.contains("no key that can be read") == true)
  }

  @Test func `a key that is not the certificate's is refused`() throws {
    let authority = try TestCertificateAuthority()
    let (one, other) = (try authority.issueClient(name: "one"), try authority.issueClient(name: "other"))
    let complaint = try complaint(one.certificates[0], other.privateKey)
    #expect(complaint?.contains("is not that of the certificate in") == true)
  }

  @Test(arguments: ["", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
  func `a file without a certificate or a key is named`(_ text: String) throws {
    let identity = try TestCertificateAuthority().issueClient(name: "pipeline")
    #expect(try complaint(text, identity.privateKey)?.contains("cert.pem holds no certificate") == true)
    #expect(try complaint(text, identity.privateKey)?.hasPrefix("Client certificate: /") == true)
    #expect(try complaint(identity.certificates[0], text)?.contains("key.pem holds no key") == true)
    #expect(try complaint(identity.certificates[0], nil)?.contains("cert.pem holds no key") == true)
  }

  @Test func `a text in place of a file's path is refused, and not repeated, since it may be a key`() throws {
    let identity = try TestCertificateAuthority().issueClient(name: "pipeline")
    let both = identity.certificates[0] + "\n" + identity.privateKey
    for (given, what) in [
      (ClientIdentity(certificate: both), "certificate"),
      (ClientIdentity(certificate: identity.certificates[0], key: identity.privateKey), "certificate"),
      (ClientIdentity(certificate: "/cert.pem", key: identity.privateKey), "key"),
      (ClientIdentity(certificate: identity.certificates[0], key: "/key.pem"), "certificate"),
    ] {
      let error = #expect(throws: DirectDNSError.self) { try given.check() }
      #expect(error?.code == .invalidConfiguration)
      #expect(error?.message.hasPrefix("Client certificate: the \(what) is given by its text") == true)
      #expect(error?.message.contains("-----") == false)
    }
  }

  @Test func `a client is not made of a key that is another certificate's`() throws {
    let authority = try TestCertificateAuthority()
    let pem = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: pem) }
    let text =
      try authority.issueClient(name: "one").certificates[0] + "\n" + authority.issueClient(name: "two").privateKey
    try text.write(to: pem, atomically: true, encoding: .utf8)
    let error = #expect(throws: DirectDNSError.self) {
      try ClientSample.client { $0.identity = ClientIdentity(certificate: pem.path) }
    }
    #expect(error?.code == .invalidConfiguration && error?.message.contains(pem.path) == true)
  }

  /// What a pipe brings can be read once.
  @Test func `a pipe is not opened to be checked`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString)").path
    try #require(unsafe mkfifo(path, 0o600) == 0)
    defer { unsafe unlink(path) }
    try ClientIdentity(certificate: path).check()
  }
}
