// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// `@server` among the arguments, as in dig and similar tools: a provider.
enum ServerArgument {
  /// The servers among the arguments, as `--provider` takes them, and the others.
  static func separated(_ arguments: [String]) throws -> (providers: [String], others: [String]) {
    let providers = try arguments.filter { $0.hasPrefix("@") }.map { text in
      guard let provider = provider(String(text.dropFirst())) else {
        throw ValidationError(
          "@ wants a server behind it, and its port behind a colon: @google, @1.1.1.1 or @https://dns.example/dns-query."
        )
      }
      return provider
    }
    return (providers, arguments.filter { !$0.hasPrefix("@") })
  }

  /// The value of `--provider` for a server: an address or a host is asked over HTTPS by DNS messages (RFC 8484), at
  /// the path that nearly all servers have; a word is a provider's name; a URL stays as it is.
  static func provider(_ server: String) -> String? {
    let authority = server.firstRange(of: "://").map { server[$0.upperBound...] } ?? server[...]
    // It has to begin with a host, and `#53` after an address would be a fragment, which is not sent to the server.
    guard let first = authority.first, !"/?#".contains(first), !authority.prefix(while: { $0 != "/" }).contains("#")
    else { return nil }
    if let address = IPAddress.written(server) { return messages("https://\(WebURL.Host.address(address))") }
    guard let scheme = server.firstRange(of: "://") else {
      let isWord = !server.contains { ".:/".contains($0) }
      return isWord ? server : messages("https://" + server)
    }
    let isFormat = server[..<scheme.lowerBound].contains("+")
    return isFormat || !["https", "http"].contains(server[..<scheme.lowerBound].lowercased())
      ? server : messages(server)
  }

  /// A URL that is asked by DNS messages; one without a path gets the usual one.
  private static func messages(_ url: String) -> String {
    let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    let path = rest.drop { $0 != "/" && $0 != "?" }
    return "doh+" + (path.isEmpty || path == "/" ? url.dropLast(path.count) + "/dns-query" : url[...])
  }
}

extension LookupArguments {
  /// These options, with the servers among the arguments as providers.
  func asking(_ arguments: [String]) -> LookupArguments {
    var options = self
    options.providers += arguments.filter { $0.hasPrefix("@") }
    return options
  }
}
