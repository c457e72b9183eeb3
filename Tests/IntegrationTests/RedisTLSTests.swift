// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import DirectDNSTesting
import Foundation
import Testing

/// The store over a real Redis, by TLS and as one of its users.
@Suite(.enabled(if: Redis.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(1)))
struct RedisTLSTests {
  private let authority: TestCertificateAuthority
  private let ca: CAFile

  init() throws {
    authority = try TestCertificateAuthority()
    ca = try authority.makeFile()
  }

  private func identity(
    names: [String] = [], addresses: [IPAddress] = [.ipv4(0x7F00_0001)],
    validity: TestCertificateAuthority.Validity = .current
  ) throws -> (identity: TLSIdentity, authority: TestCertificateAuthority) {
    (try authority.issue(names: names, addresses: addresses, validity: validity), authority)
  }

  /// What a look into the store fails with.
  private func failure(_ url: String) async throws -> String {
    let store = RedisAnswerStore(try RedisStoreConfiguration(url: url))
    do throws(DirectDNSError) {
      _ = try await store.read([])
      return "nothing"
    } catch {
      #expect(error.code == .storeFailed)
      return error.message
    }
  }

  /// The rules of a user who may do what a store needs, and nothing else (ACL SETUSER).
  private static let user = [
    "--user", "worker", "on", ">OPEN-SESAME", "~directdns:*", "-@all", "+ping", "+select", "+get", "+mget", "+set",
    "+del",
    "+eval", "+scan", "--user", "default", "off",
  ]

  @Test func `the contracts hold by TLS for a user who may do no more than they need`() async throws {
    let server = try Redis(arguments: Self.user + ["--tls-auth-clients", "no"], tls: identity())
    try await server.process.start()
    let url = "rediss://worker:OPEN-SESAME@127.0.0.1:\(server.port)/0?ca=\(ca.path)"
    for (number, promise) in AnswerStoreContract.all.enumerated() {
      var configuration = try RedisStoreConfiguration(url: url)
      configuration.prefix = "directdns:answers-\(number):"
      await #expect(throws: Never.self, "\(promise)") { try await promise.check(RedisAnswerStore(configuration)) }
    }
    for (number, promise) in FleetStoreContract.all.enumerated() {
      var configuration = try RedisStoreConfiguration(url: url)
      configuration.prefix = "directdns:fleet-\(number):"
      await #expect(throws: Never.self, "\(promise)") { try await promise.check(RedisAnswerStore(configuration)) }
    }
    var elsewhere = try RedisStoreConfiguration(url: url)
    elsewhere.prefix = "other:"
    let store = RedisAnswerStore(elsewhere)
    await #expect {
      _ = try await store.read([AddressQuestion(try HostName("www.lab.test"), .ipv4)])
    } throws: { error in "\(error)".contains("ACL rules") }
    let wrong = try await failure(url.replacing("OPEN", with: "WRONG"))
    #expect(wrong.contains("Check user and password") && !wrong.contains("SESAME"))
    #expect(try await failure(url.replacing("worker", with: "stranger")).contains("Check user and password"))
    try await server.process.stop()
  }

  @Test func `a certificate has to be for the host, in its time, and by an authority that is known`() async throws {
    try await Redis.running("--tls-auth-clients", "no", tls: identity(names: ["localhost"], addresses: [])) {
      server async throws in
      #expect(try await failure("rediss://localhost:\(server.port)?ca=\(ca.path)") == "nothing")
      let other = try await failure("\(server.url)?ca=\(ca.path)")
      #expect(other.contains("certificate that is not taken") && other.contains("mismatch"), "\(other)")
      let unknown = try await failure("rediss://localhost:\(server.port)")
      #expect(unknown.contains("certificate that is not taken") && unknown.contains("?ca=FILE"), "\(unknown)")
    }
    try await Redis.running("--tls-auth-clients", "no", tls: identity(validity: .expired)) { server async throws in
      #expect(try await failure("\(server.url)?ca=\(ca.path)").contains("certificate has expired"))
    }
  }

  @Test func `a server that asks for a certificate gets ours`() async throws {
    let folder = try ServerFixture.newFolder("redis-client")
    let (certificate, key) = (folder.appending(path: "cert.pem").path, folder.appending(path: "key.pem").path)
    let client = try authority.issueClient(name: "worker")
    try Data(client.certificates[0].utf8).write(to: URL(filePath: certificate))
    try Data(client.privateKey.utf8).write(to: URL(filePath: key))
    // Redis asks for one unless it is told not to.
    try await Redis.running(tls: identity()) { server async throws in
      #expect(try await failure("\(server.url)?ca=\(ca.path)&cert=\(certificate)&key=\(key)") == "nothing")
      let unknown = try await failure("\(server.url)?ca=\(ca.path)")
      #expect(unknown.contains("cannot be reached") && unknown.contains("?cert=FILE&key=FILE"), "\(unknown)")
      for (query, reason) in [
        ("ca=\(key)", "holds no certificates that can be read"),
        ("ca=/nowhere", "\"/nowhere\" cannot be read: No such file or directory."),
        ("ca=\(ca.path)&cert=/nowhere&key=\(key)", "\"/nowhere\" cannot be read: No such file or directory."),
        ("ca=\(ca.path)&cert=\(certificate)&key=/nowhere", "\"/nowhere\" cannot be read: No such file or directory."),
        ("ca=\(ca.path)&cert=\(ca.path)&key=\(key)", "holds no key of that certificate"),
      ] {
        #expect(try await failure("\(server.url)?\(query)").contains(reason), "\(query)")
      }
    }
  }

  /// OpenSSL would ask for it at the terminal, or take a line of standard input for it.
  @Test func `a key that has a password is an error, and nobody is asked for it`() async throws {
    let folder = try ServerFixture.newFolder("redis-locked")
    let (certificate, key) = (folder.appending(path: "cert.pem").path, folder.appending(path: "key.pem").path)
    let locked = folder.appending(path: "locked.pem").path
    let client = try authority.issueClient(name: "worker")
    try Data(client.certificates[0].utf8).write(to: URL(filePath: certificate))
    try Data(client.privateKey.utf8).write(to: URL(filePath: key))
    let arguments = ["pkey", "-in", key, "-aes128", "-passout", "pass:OPEN-SESAME", "-out", locked]
    try #require(try await ServerFixture.run("openssl", arguments).status == 0)
    try await Redis.running(tls: identity()) { server async throws in
      let store = "\(server.url)?ca=\(ca.path)&cert=\(certificate)&key=\(locked)"
      let outcome = try await Program().run(["cache", "list", "--store", store], input: "OPEN-SESAME\n")
      #expect(outcome.status == 74 && outcome.errors.contains("holds no key of that certificate"), "\(outcome)")
    }
  }

  @Test func `TLS where there is none, and none where there is TLS, are errors in time`() async throws {
    try await Redis.running("--tls-auth-clients", "no", tls: identity()) { server async throws in
      let plain = try await failure("redis://127.0.0.1:\(server.port)")
      #expect(plain.contains("cannot be reached") && plain.contains("write rediss:// for redis://"), "\(plain)")
    }
    try await Redis.running { server async throws in
      let encrypted = try await failure("rediss://127.0.0.1:\(server.port)?ca=\(ca.path)")
      #expect(encrypted.contains("write redis:// for rediss://"), "\(encrypted)")
    }
  }

  @Test func `a server that hangs is an error in time, and one that was restarted none`() async throws {
    try await Redis.running("--tls-auth-clients", "no", tls: identity()) { server async throws in
      let url = "\(server.url)?ca=\(ca.path)"
      let store = RedisAnswerStore(try RedisStoreConfiguration(url: url))
      _ = try await store.read([])
      try await server.process.pause()
      await #expect {
        _ = try await store.read([])
      } throws: { error in "\(error)".contains("in time") }
      #expect(try await failure(url).contains("in time"))
      await server.process.resume()
      _ = try await store.read([])
      try await server.process.stop()
      try await server.process.start()
      _ = try await store.read([])
    }
  }

  @Test func `a member of a cluster is refused as what it is`() async throws {
    try await Redis.running("--cluster-enabled", "yes", "--cluster-port", "\(try LoopbackPort.free())") {
      server async throws in
      let store = try server.store()
      await #expect {
        _ = try await store.read([AddressQuestion(try HostName("www.lab.test"), .ipv4)])
      } throws: { error in "\(error)".contains("is a member of a cluster") }
    }
  }
}
