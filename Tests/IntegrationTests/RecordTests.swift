// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

/// Records of all types, as the library reads them and as others' programs do.
@Suite(
  "Records of real servers",
  .enabled(if: ServerFixture.missing.isEmpty && LookupTool.missing.isEmpty, "a server, dig or kdig is not installed"),
  .timeLimit(.minutes(2)))
struct RecordTests {
  private static let questions = [
    ("mail.lab.test", "MX"), ("mail.lab.test", "TXT"), ("lab.test", "NS"),
    ("lab.test", "SOA"), ("_sip._tcp.lab.test", "SRV"), ("1.rev.lab.test", "PTR"), ("ca.lab.test", "CAA"),
    ("web.lab.test", "HTTPS"), ("_scheme.web.lab.test", "SVCB"), (#"odd\.name\;.lab.test"#, "CNAME"),
    ("new.lab.test", "TYPE65280"), ("new.lab.test", "TYPE65281"), ("to-mail.lab.test", "MX"),
    ("to-mail.lab.test", "CNAME"), ("www.lab.test", "A"), ("dual.lab.test", "AAAA"), ("www.lab.test", "MX"),
  ]

  @Test(arguments: ["unbound", "BIND"])
  func `each record is what dig and kdig show`(_ server: String) async throws {
    if server == "BIND" {
      try await compare(Bind.self, { $0.dnsPort })
    } else {
      try await compare(Unbound.self, { $0.dnsPort })
    }
  }

  private func compare<Server: DoHServer>(_ kind: Server.Type, _ dnsPort: @escaping @Sendable (Server) -> UInt16)
    async throws
  {
    try await kind.running { server in
      for method in ["doh", "doh-post"] {
        let resolver = try Self.resolver(server, method)
        defer { resolver.shutdown() }
        for (name, type) in Self.questions {
          let own = try await Self.data(resolver, name, type)
          for tool in LookupTool.allCases {
            let theirs = try await tool.data(name, type, port: dnsPort(server))
            #expect(own == theirs, "\(tool) \(name) \(type)")
          }
          #expect(!own.isEmpty || (name, type) == ("www.lab.test", "MX"))
        }
        let missing = await #expect(throws: DirectDNSError.self) {
          try await resolver.records(of: "missing.lab.test", type: .mx)
        }
        #expect(missing?.code == .nameNotFound)
        let none = await #expect(throws: DirectDNSError.self) {
          try await resolver.records(of: "www.lab.test", type: .mx)
        }
        #expect(none?.code == .noRecord)
      }
    }
  }

  private static func resolver(_ server: some DoHServer, _ method: String) throws -> DirectResolver {
    let url = server.dohURL
    var provider = try ProviderConfiguration("\(method)+\(url)")
    provider.bootstrap = [.ipv4(0x7f00_0001)]
    var configuration = ResolverConfiguration(providers: [provider])
    configuration.usesSystemDNS = false
    configuration.trust.privateAuthorities = [server.caFile]
    return try DirectResolver(configuration)
  }

  private static func data(_ resolver: DirectResolver, _ name: String, _ type: String) async throws -> [String] {
    guard let name = DNSName(name), let type = DNSRecordType(type) else {
      throw ServerFixture.Failure("\(name) \(type) is no question")
    }
    do throws(DirectDNSError) {
      return try await resolver.records(of: name, type: type).records.map { LookupTool.even("\($0.data)") }.sorted()
    } catch {
      guard error.code == .noRecord else { throw error }
      return []
    }
  }
}

/// dig and kdig, which share no code with the library nor with one another.
enum LookupTool: String, CaseIterable {
  case dig, kdig

  static let missing = allCases.map(\.rawValue).filter { ServerFixture.path(of: $0) == nil }

  /// The data of the records of that name and type, sorted.
  func data(_ name: String, _ type: String, port: UInt16) async throws -> [String] {
    let folder = try ServerFixture.newFolder(rawValue)
    let output = folder.appending(path: "output")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(filePath: ServerFixture.path(of: rawValue) ?? "")
    process.arguments = ["@127.0.0.1", "-p", "\(port)", "+noall", "+answer", "-t", type, "-q", name]
    // Long hexadecimal and base64 come in pieces; kdig never cuts them.
    if self == .dig { process.arguments?.append("+nosplit") }
    process.standardOutput = try FileHandle(forWritingTo: output)
    let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in continuation.yield() }
    try ServerFixture.launch(process)
    _ = await ended.first { true }
    // Name, TTL, class, type and data, with tabs or spaces between.
    return try String(contentsOf: output, encoding: .utf8).split(separator: "\n").compactMap { line in
      let parts = line.split(maxSplits: 4, whereSeparator: \.isWhitespace)
      guard parts.count >= 4, !line.hasPrefix(";"), parts[3] == type else {
        return nil
      }
      return Self.even(parts.count > 4 ? String(parts[4]) : "")
    }.sorted()
  }

  /// The text without what each writes in its own way: the case of names, quotes that are not needed, kdig's blank behind a
  /// CAA record.
  static func even(_ text: String) -> String {
    text.hasPrefix("\"")
      ? text
      : text.lowercased().replacing("=\"", with: "=").replacing("\" ", with: " ")
        .replacing(/"? *$/, with: "")
  }
}
