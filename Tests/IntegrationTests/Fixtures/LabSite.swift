// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation

/// What every web server of the fixture serves, and the certificates that it shows.
///
/// - `/name`: the virtual host's name.
/// - `/moved`: a 302 to `/name`.
/// - `/cookies`: sets `a=1` and `b=2` for all paths.
/// - `/big`: ``bigCount`` zeros, which take no room on the disk.
/// - `/sink/NAME`: takes a PUT of any size.
struct LabSite: Sendable {
  /// A virtual host; each shows a certificate of its own.
  struct Host: Sendable {
    var name: String
    var identity: TLSIdentity
  }

  static let bigCount = 5 << 30

  /// The two hosts that there is nothing wrong with.
  static let (www, api) = ("www.lab.test", "api.lab.test")
  /// The host whose certificate is for another name.
  static let mistaken = "mistaken.lab.test"
  static let expired = "expired.lab.test"
  static let selfSigned = "self-signed.lab.test"
  /// The host whose certificate is for the addresses of loopback alone; also for who asks by address.
  static let byAddress = "by-address.lab.test"

  let folder: URL
  let hosts: [Host]
  /// The authority: what a client has to trust.
  let caFile: String

  /// Writes the site.
  init(in folder: URL) throws {
    self.folder = folder
    let authority = try TestCertificateAuthority()
    let loopback: [IPAddress] = [.ipv4(0x7F00_0001), .ipv6(high: 0, low: 1)]
    hosts = [
      Host(name: Self.byAddress, identity: try authority.issue(names: [], addresses: loopback)),
      Host(name: Self.www, identity: try authority.issue(names: [Self.www])),
      Host(name: Self.api, identity: try authority.issue(names: [Self.api])),
      Host(name: Self.mistaken, identity: try authority.issue(names: ["other.lab.test"])),
      Host(name: Self.expired, identity: try authority.issue(names: [Self.expired], validity: .expired)),
      Host(name: Self.selfSigned, identity: try TestCertificateAuthority.selfSigned(names: [Self.selfSigned])),
    ]
    caFile = folder.appending(path: "ca.pem").path
    try Data(authority.certificate.utf8).write(to: URL(filePath: caFile))
    for host in hosts {
      try FileManager.default.createDirectory(at: root(of: host), withIntermediateDirectories: true)
      try Data(host.name.utf8).write(to: root(of: host).appending(path: "name"))
      try Data(host.identity.certificates.joined(separator: "\n").utf8).write(to: certificate(of: host))
      try Data(host.identity.privateKey.utf8).write(to: key(of: host))
    }
    try Data().write(to: big)
    let file = try FileHandle(forWritingTo: big)
    try file.truncate(atOffset: UInt64(Self.bigCount))
    try file.close()
  }

  var big: URL { folder.appending(path: "big") }

  func root(of host: Host) -> URL { folder.appending(path: host.name) }
  func certificate(of host: Host) -> URL { folder.appending(path: "\(host.name).pem") }
  func key(of host: Host) -> URL { folder.appending(path: "\(host.name).key") }
}
