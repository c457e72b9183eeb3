// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSRedis
internal import DirectDNSSQLite

/// `dnsctl version`: its own version, and those of the libraries that it runs with.
struct VersionCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Show the version, and with --verbose those of the C libraries.",
    discussion: """
      dnsctl --version --verbose is the same as dnsctl version --verbose.

      EXIT STATUS
          0  always, but:
         74  standard output could not be written
        141  the reader of standard output has gone
      """)

  @Flag(name: .shortAndLong, help: "Show the versions of the C libraries too.")
  var verbose = false

  func run(in context: CommandContext) async -> ExitStatus {
    context.write(verbose ? Self.text(context.packages()) : Dnsctl.configuration.version + "\n")
  }

  /// One line each: the name and the version.
  static func text(_ packages: SystemPackages) -> String {
    let tls = packages.tls?.split(separator: "/", maxSplits: 1).map(String.init) ?? []
    let lines: [(name: String, version: String)] = [
      ("dnsctl", Dnsctl.configuration.version), ("libcurl", packages.curl), ("c-ares", packages.cAres),
      tls.count == 2 ? (tls[0], tls[1]) : ("TLS", packages.tls ?? "none"), ("nghttp2", packages.http2 ?? "none"),
      ("libidn2", packages.libidn2), ("libpsl", packages.libpsl), ("SQLite", SQLiteAnswerStore.libraryVersion),
      ("hiredis", RedisAnswerStore.libraryVersion),
    ]
    return lines.map { "\($0.name) \($0.version)\n" }.joined().printableLines
  }

  /// Turns `--version --verbose` or `-v`, in either order, into this command; leaves other words as they are.
  static func spelledOut(_ words: [String]) -> [String] {
    [["--version", "--verbose"], ["--version", "-v"]].contains(Set(words)) ? ["version", "--verbose"] : words
  }
}
