// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct TestCertificateAuthorityTests {
  /// curl's status for a certificate that does not verify.
  private static let untrusted: Int32 = 60

  private func exit(
    _ identity: TLSIdentity, trusting authority: TestCertificateAuthority, host: String = "doh.test"
  ) async throws -> Int32 {
    try await withProvider(.init(identity: identity)) { server async throws in
      try await authority.withCAFile { path async throws in
        try await Curl.run(
          "--cacert", path, "--resolve", "\(host):\(server.port):127.0.0.1",
          server.url("/resolve?name=www.example.com", host: host)
        ).exit
      }
    }
  }

  @Test func `a client that trusts the authority accepts its certificates`() async throws {
    let authority = try TestCertificateAuthority()
    #expect(try await exit(authority.issue(names: ["doh.test"]), trusting: authority) == 0)
  }

  @Test func `a certificate can hold an address`() async throws {
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: [], addresses: [.ipv4(0x7F00_0001)])
    #expect(try await exit(identity, trusting: authority, host: "127.0.0.1") == 0)
    let other = try authority.issue(names: ["doh.test"])
    #expect(try await exit(other, trusting: authority, host: "127.0.0.1") == Self.untrusted)
  }

  @Test func `a name can be as long as DNS has room for`() async throws {
    let long = Array(repeating: String(repeating: "a", count: 49), count: 5).joined(separator: ".") + ".t"
    let authority = try TestCertificateAuthority(name: String(repeating: "ü", count: 65))
    let identity = try authority.issue(names: [long])
    #expect(try await exit(identity, trusting: authority, host: long) == 0)
    #expect(try await exit(identity, trusting: authority) == Self.untrusted)
  }

  @Test(arguments: [TestCertificateAuthority.Validity.expired, .notYetValid])
  func `a certificate out of its time is refused`(validity: TestCertificateAuthority.Validity) async throws {
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: ["doh.test"], validity: validity)
    #expect(try await exit(identity, trusting: authority) == Self.untrusted)
  }

  @Test func `a certificate for another name is refused`() async throws {
    let authority = try TestCertificateAuthority()
    #expect(try await exit(authority.issue(names: ["other.test"]), trusting: authority) == Self.untrusted)
  }

  @Test func `a certificate that signed itself is refused`() async throws {
    let identity = try TestCertificateAuthority.selfSigned(names: ["doh.test"])
    #expect(try await exit(identity, trusting: TestCertificateAuthority()) == Self.untrusted)
  }

  @Test func `another authority of the same name vouches for nothing`() async throws {
    let identity = try TestCertificateAuthority().issue(names: ["doh.test"])
    #expect(try await exit(identity, trusting: TestCertificateAuthority()) == Self.untrusted)
  }

  @Test func `the CA file goes when its object does`() async throws {
    let authority = try TestCertificateAuthority()
    var file: CAFile? = try authority.makeFile()
    let path = try #require(file?.path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == authority.certificate)
    file = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a lent CA file goes when the body throws`() async throws {
    var lent = ""
    await #expect(throws: CancellationError.self) {
      try await TestCertificateAuthority().withCAFile { path async throws in
        lent = path
        throw CancellationError()
      }
    }
    #expect(!lent.isEmpty && !FileManager.default.fileExists(atPath: lent))
  }
}
