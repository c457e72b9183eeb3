// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

/// The figures of the page *Trust* are the code's.
struct TrustTests {
  /// The second column of the table's row.
  private func bound(of what: String) throws -> String {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/DirectDNS/DirectDNS.docc/Trust.md")
    let row = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").first {
      $0.hasPrefix("| \(what) |")
    }
    let columns = try #require(row, "the page has no row for \(what)").split(separator: "|")
    return columns[1].trimmingCharacters(in: .whitespaces)
  }

  @Test func `what a lookup may cost is what the page says`() throws {
    let configuration = ResolverConfiguration()
    #expect(try bound(of: "names in the cache") == "\(configuration.capacity)")
    #expect(try bound(of: "addresses of an answer") == "\(Answer.addressLimit)")
    #expect(try bound(of: "aliases that are followed") == "\(AnswerChain.limit)")
    #expect(
      try bound(of: "a provider's reply")
        == "\(HTTPReply.bodyLimit) bytes, and \(HTTPReply.fieldLimit) of header fields")
    #expect(try bound(of: "nesting of a provider's JSON") == "\(JSONReader.depthLimit)")
    #expect(try bound(of: "lookups of the system's DNS under way") == "\(CaresQueries.limit)")
  }

  @Test func `what a request may cost is what the page says`() throws {
    let configuration = DirectClientConfiguration()
    #expect(try bound(of: "a response's head") == "\(ResponseLines.limit) bytes")
    #expect(try bound(of: "a response's body that nobody reads, over HTTP/1.1") == "\(configuration.bufferSize) bytes")
    #expect(!configuration.decompresses)
    // These two are libcurl's: ResponseBodyTests and LoadTests measure them.
    #expect(try bound(of: "what one read of 16 KiB, or 48 KiB with HTTP/2, decodes to").hasPrefix("64 MB"))
    #expect(try bound(of: "the same over HTTP/2").hasPrefix("32 MB"))
    #expect(try bound(of: "``ResponseBody/text(upTo:)``") == "\(ResponseBody.textLimit) bytes")
    #expect(try bound(of: "redirects of a request") == "\(RedirectConfiguration().limit)")
    #expect(
      try bound(of: "connections")
        == "\(configuration.connections), and \(configuration.connectionsPerOrigin) of an origin")
    #expect(try bound(of: "requests on a connection at once") == "\(configuration.streamsPerConnection)")
    #expect(
      try bound(of: "name and value of a cookie")
        == "\(SetCookie.maximumOctets) bytes, and \(SetCookie.maximumAttributeOctets) an attribute")
    let jar = CookieJarConfiguration()
    #expect(try bound(of: "cookies") == "\(jar.maximumCookies), and \(jar.maximumCookiesPerDomain) of a domain")
  }
}
