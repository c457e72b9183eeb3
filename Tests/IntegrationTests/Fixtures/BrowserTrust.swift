// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation

/// What a page is asked for by.
enum BrowserScheme: String, CaseIterable, Sendable, CustomStringConvertible {
  case http, https

  var description: String { rawValue }
}

/// A certificate for a site's names, and how browsers are brought to trust it without a change of this machine.
struct BrowserTrust: Sendable {
  let identity: TLSIdentity
  /// The SHA-256 of the certificate's key, in Base64: by it Chromium is told.
  let keyHash: String
  private let caFile: String

  init(names: [String], in folder: URL) async throws {
    let authority = try TestCertificateAuthority()
    identity = try authority.issue(names: names)
    caFile = folder.appending(path: "ca.pem").path
    try Data(authority.certificate.utf8).write(to: URL(filePath: caFile))
    let leaf = folder.appending(path: "leaf.pem").path
    try Data(identity.certificates[0].utf8).write(to: URL(filePath: leaf))
    let script = """
      openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der |
      openssl dgst -sha256 -binary | openssl base64
      """
    let hashed = try await ServerFixture.run("sh", ["-c", script, leaf])
    keyHash = String(decoding: hashed.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard hashed.status == 0, keyHash.count == 44 else { throw ServerFixture.Failure("openssl makes no hash of a key") }
  }

  /// A command to whose eyes the site's authority is the only one that the machine trusts.
  ///
  /// WebKitGTK reads the machine's file (GnuTLS), for which there is no variable: it has a mount of its own over it.
  func trusted(_ words: [String]) -> [String] {
    let user = geteuid() == 0 ? [] : ["--map-root-user"]
    let script = "mount --bind \"$0\" /etc/ssl/certs/ca-certificates.crt && exec \"$@\""
    return ["unshare"] + user + ["--mount", "--propagation", "private", "sh", "-c", script, caFile] + words
  }
}
