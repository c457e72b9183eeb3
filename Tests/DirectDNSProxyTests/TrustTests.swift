// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing

@testable import DirectDNSProxy

/// The proxy's figures on the page *Trust* are the code's.
struct TrustTests {
  /// The second column of the table's row.
  private func bound(of what: String) throws -> String {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/DirectDNS/DirectDNS.docc/Trust.md")
    let row = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").first { $0.hasPrefix("| \(what) |") }
    let columns = try #require(row, "the page has no row for \(what)").split(separator: "|")
    return columns[1].trimmingCharacters(in: .whitespaces)
  }

  @Test func `what the proxy's clients may cost is what the page says`() throws {
    let limits = ProxyLimits()
    #expect(try bound(of: "the proxy's clients") == "\(limits.clients)")
    #expect(try bound(of: "its tunnels") == "as many" && limits.tunnels == nil)
    #expect(
      try bound(of: "a head that the proxy reads") == "\(limits.headSize) bytes in \(limits.fieldCount) fields")
    let (bytes, writes) = (Connections.waterMark.high, PendingWrites.limit)
    let held = "\(bytes) each way, in at most \(writes) pieces, and a read or two of \(Connections.bufferLimit)"
    // SwiftNIO reads all that is there when it hears of the end, whatever reads are held back.
    let ended = "; once a side has ended, also what the kernel still held of it"
    #expect(try bound(of: "bytes of a body or a tunnel that the proxy holds back") == held + ended)
  }
}
