// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

struct TrustStoreTests {
  private func resolved(_ authorities: [String] = [], _ environment: [String: String] = [:]) throws
    -> CurlTrust
  {
    try TrustStore(privateAuthorities: authorities, environment: environment).resolved()
  }

  @Test func `the environment names the system's authorities, as for OpenSSL`() throws {
    #expect(try resolved([], ["SSL_CERT_DIR": "/certs"]) == CurlTrust(folder: "/certs"))
    #expect(
      try resolved([], ["SSL_CERT_DIR": "/certs", "SSL_CERT_FILE": "/all.pem"])
        == CurlTrust(folder: "/certs", file: "/all.pem"))
    #expect(try resolved([], ["SSL_CERT_FILE": "/all.pem"]).file == "/all.pem")
  }

  @Test(arguments: ["SSL_CERT_DIR", "SSL_CERT_FILE"])
  func `an empty variable is none, since nobody would be trusted by a file without a name`(_ name: String) throws {
    #expect(TrustStore(environment: [name: ""]) == TrustStore(environment: [:]))
    #expect(try resolved([], [name: ""]) == resolved())
  }

  @Test func `without it there is a folder or a file, since nobody may be trusted by libcurl's own default`()
    throws
  {
    let trust = try resolved()
    #expect(trust.folder != nil || trust.file != nil)
    #expect(trust.blob == nil)
    #expect(TrustStore() == TrustStore(environment: ProcessInfo.processInfo.environment))
  }

  @Test func `nothing else of the environment is kept, which may have secrets`() {
    let store = TrustStore(environment: ["SSL_CERT_DIR": "/certs", "AWS_SECRET_ACCESS_KEY": "hush"])
    #expect(store.certificateFolder == "/certs" && store.certificateFile == nil)
    var shown = ""
    dump(store, to: &shown)
    #expect(!shown.contains("hush"))
  }

  @Test func `a private authority stands beside the system's folder`() throws {
    let file = try TestCertificateAuthority().makeFile()
    let trust = try resolved([file.path], ["SSL_CERT_DIR": "/certs"])
    #expect(trust.folder == "/certs" && trust.file == file.path && trust.blob == nil)
  }

  @Test(arguments: [1, 2])
  func `what a private authority's file holds by now tells it from what it held before`(_ count: Int) throws {
    let authorities = try (0..<3).map { _ in try TestCertificateAuthority() }
    let files = try authorities[..<count].map { try $0.makeFile() }
    // An array goes after its last use in a release build, and the files with it.
    defer { withExtendedLifetime(files) {} }
    let before = try resolved(files.map(\.path), ["SSL_CERT_DIR": "/certs"])
    #expect(try resolved(files.map(\.path), ["SSL_CERT_DIR": "/certs"]) == before)
    try Data(authorities[2].certificate.utf8).write(to: URL(filePath: files[0].path))
    #expect(try resolved(files.map(\.path), ["SSL_CERT_DIR": "/certs"]) != before)
  }

  @Test func `a text in place of a file's path is refused, and not repeated`() throws {
    let text = try TestCertificateAuthority().certificate
    let error = #expect(throws: DirectDNSError.self) { try resolved([text]) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("given by its text") == true)
    #expect(error?.message.contains("-----") == false)
  }

  @Test func `several files become one text, the system's with them`() throws {
    let authorities = try (0..<3).map { _ in try TestCertificateAuthority() }
    let files = try authorities.map { try $0.makeFile() }
    let trust = try resolved(
      files[..<2].map(\.path), ["SSL_CERT_DIR": "/certs", "SSL_CERT_FILE": files[2].path])
    #expect(trust.folder == "/certs" && trust.file == files[2].path)
    let text = String(decoding: try #require(trust.blob), as: UTF8.self)
    for authority in authorities { #expect(text.contains(authority.certificate)) }
  }

  @Test func `more than libcurl takes is an error, since it would trust nobody of them`() throws {
    let files = try (0..<2).map { _ in try TestCertificateAuthority().makeFile() }
    defer { withExtendedLifetime(files) {} }
    let file = try FileHandle(forWritingTo: URL(filePath: files[0].path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(repeating: UInt8(ascii: "\n"), count: 8_000_000))
    try file.close()
    let environment = ["SSL_CERT_DIR": "/certs"]
    #expect(try resolved([files[0].path], environment).file == files[0].path)
    let error = #expect(throws: DirectDNSError.self) { try resolved(files.map(\.path), environment) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("libcurl takes 8000000") == true)
  }

  @Test func `a file that is not there, and one that holds no certificate, are named`() throws {
    let missing = #expect(throws: DirectDNSError.self) { try resolved(["/nowhere/ca.pem"]) }
    #expect(
      missing?.code == .invalidConfiguration
        && missing?.message.contains("/nowhere/ca.pem cannot be read") == true)
    let empty = FileManager.default.temporaryDirectory.appending(path: "directdns-\(UUID().uuidString)")
    try Data("no certificate".utf8).write(to: empty)
    defer { try? FileManager.default.removeItem(at: empty) }
    let good = try TestCertificateAuthority().makeFile()
    let other = #expect(throws: DirectDNSError.self) { try resolved([good.path, empty.path]) }
    #expect(other?.message.contains("\(empty.path) holds no certificate") == true)
    #expect(throws: DirectDNSError.self) {
      try CurlTransport(trust: TrustStore(privateAuthorities: ["/nowhere/ca.pem"]))
    }
  }

  @Test func `what has named a file is told with it, and makes no other trust`() {
    let same = TrustStore(privateAuthorities: ["/nowhere/ca.pem"], environment: [:])
    var named = same
    named.origins = ["/nowhere/ca.pem": "/etc/c.json5: ca[0]", "/other.pem": "no"]
    let store = named
    let error = #expect(throws: DirectDNSError.self) { try store.resolved() }
    #expect(error?.message.hasPrefix("/etc/c.json5: ca[0]: the CA file /nowhere/ca.pem cannot be read: ") == true)
    #expect(store == same && Set([store, same]).count == 1)
  }
}
