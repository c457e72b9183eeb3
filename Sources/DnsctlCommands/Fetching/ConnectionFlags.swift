// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// How servers are reached, with curl's options.
struct ConnectionFlags: ParsableArguments {
  @Option(
    name: .customLong("cacert"),
    help: ArgumentHelp("A file of certificate authorities (PEM) to trust besides the system's.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt", "cer"]))
  var authorities: [String] = []

  @Option(
    name: [.customShort("E"), .customLong("cert")],
    help: ArgumentHelp(
      "A client certificate (PEM), and its key's password, shown to the URL's own origin alone; a colon in the file's name is written \\:.",
      valueName: "file[:password]"),
    completion: .file(extensions: ["pem"]))
  var certificate: String?

  @Option(
    name: .customLong("key"),
    help: ArgumentHelp("The client certificate's key (PEM), where it is not in the same file.", valueName: "file"),
    completion: .file(extensions: ["pem", "key"]))
  var key: String?

  @Option(
    name: .customLong("pass"), parsing: .unconditional,
    help: ArgumentHelp(
      "The password of the client certificate's key. @FILE holds it in its first line.", valueName: "password|@file"))
  var keyPassword: String?

  @Option(
    name: .customLong("resolve"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Addresses to use for a host at that port, in place of a lookup; its other ports are looked up. What the address policy forbids stays forbidden.",
      valueName: "host:port:address[,address]"))
  var resolved: [String] = []

  @Flag(name: [.customShort("k"), .customLong("insecure")], help: .hidden)
  var isInsecure = false

  @Flag(exclusivity: .chooseLast)
  var versionFlag: HTTPVersionFlag?

  @Option(
    name: .customLong("connect-timeout"), parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds that connecting may take, over all addresses; 0 is the default, as in curl. (default: 5)",
      valueName: "s"),
    transform: { text in try Seconds.waitOption(text) })
  var connectTimeout: Duration?

  @Option(
    name: [.customShort("m"), .customLong("max-time")], parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds that a whole transfer may take; 0 is the default, as in curl. (default: any, but 30 for the first byte of the response)",
      valueName: "s"),
    transform: { text in try Seconds.waitOption(text) })
  var wholeTimeout: Duration?

  @Option(
    name: [.customShort("y"), .customLong("speed-time")], parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds for which a response's body may bring nothing, as with curl's --speed-limit of 1; 0 is the default. (default: any)",
      valueName: "s"),
    transform: { text in try Seconds.waitOption(text) })
  var idleTimeout: Duration?

  @Option(
    name: .customLong("retry"), parsing: .unconditional,
    help: ArgumentHelp(
      "How often to try again after a failure that may pass: connections, timeouts, and the statuses 408, 429, 500, 502, 503 and 504. (default: 0)",
      valueName: "n"),
    transform: { text in
      guard let count = Int(text), count >= 0 else {
        throw ValidationError("\"\(text.printable)\" is not a number of tries. Give 0 or more.")
      }
      return count
    })
  var retries = 0

  @Option(
    name: [.customShort("x"), .customLong("proxy")],
    help: ArgumentHelp(
      "The proxy to go through; those of the environment do not count. Without a port in it the port is 80, or 443 with https://, and not 1080 as in curl.",
      valueName: "url"))
  var proxy: String?

  @Option(
    name: [.customShort("U"), .customLong("proxy-user")], parsing: .unconditional,
    help: ArgumentHelp(
      "Name and password for the proxy. @FILE holds them in its first line.", valueName: "user:password|@file"))
  var proxyUser: String?

  @Option(
    name: .customLong("noproxy"),
    help: ArgumentHelp("Hosts to reach without the proxy, with commas between them; * for all.", valueName: "list"))
  var proxyExceptions: String = ""
}

/// Which version of HTTP is used; the last of the flags counts, as in curl.
enum HTTPVersionFlag: EnumerableFlag, Sendable {
  case http1, http2, http2Known

  static func name(for version: HTTPVersionFlag) -> NameSpecification {
    switch version {
    case .http1: .customLong("http1.1")
    case .http2: .customLong("http2")
    case .http2Known: .customLong("http2-prior-knowledge")
    }
  }

  static func help(for version: HTTPVersionFlag) -> ArgumentHelp? {
    switch version {
    case .http1: "Use HTTP/1.1 only."
    case .http2: "Use HTTP/2 if TLS negotiates it, which is the default."
    case .http2Known: "Use HTTP/2 without negotiation, over plain http too."
    }
  }
}

extension ConnectionFlags {
  /// A large file may take long, so there is no limit by default.
  private static let unlimited = Duration.seconds(Int64(Seconds.most))

  /// `-m` is also the limit for the first byte, which is otherwise 30 s.
  var timeouts: RequestTimeouts {
    var timeouts = RequestTimeouts(total: Self.unlimited)
    if let connectTimeout, connectTimeout > .zero { timeouts.connect = connectTimeout }
    if let wholeTimeout, wholeTimeout > .zero {
      timeouts.firstByte = wholeTimeout
      timeouts.total = wholeTimeout
    }
    if let idleTimeout, idleTimeout > .zero { timeouts.idle = idleTimeout }
    return timeouts
  }

  var httpVersion: HTTPVersionChoice {
    switch versionFlag {
    case .http1?: .http1
    case .http2Known?: .http2
    case .http2?, nil: .automatic
    }
  }

  /// Read here and not by the parser, whose messages repeat the value, which may contain a password.
  func proxyChoice(
    _ readFile: (String) throws(StreamError) -> [UInt8]?
  ) throws(CommandError) -> ProxyChoice {
    // An empty value means no proxy, as in curl.
    guard let proxy, !proxy.isEmpty else {
      guard proxyUser == nil else { throw CommandError(.usage, "-U needs -x: there is no proxy to send them to.") }
      return .none
    }
    let scheme = proxy.contains("://") ? String(proxy.prefix { $0 != ":" }).lowercased() : "http"
    guard ["http", "https"].contains(scheme) else {
      throw CommandError(
        .usage,
        "-x: a proxy of scheme \(scheme.printable) cannot be used: write http://HOST:PORT or https://HOST:PORT. A SOCKS5 "
          + "proxy goes behind dnsctl proxy, as its --upstream.")
    }
    let url = try Self.proxyURL(proxy.contains("://") ? proxy : "http://\(proxy)")
    guard let proxyUser else { return .url(url, except: proxyExceptions) }
    guard url.username.isEmpty, url.password.isEmpty else {
      throw CommandError(.usage, "-U and a name in -x do not go together.")
    }
    let words = try InputFile.secret(proxyUser, for: "-U", by: readFile).unicodeScalars
      .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
        PercentEncoding.encoded(String($0), .reserved)
      }
    guard words.count == 2 else {
      throw CommandError(.usage, "-U: write USER:PASSWORD; dnsctl does not ask for a password.")
    }
    let text = "\(url.scheme.rawValue)://\(words[0]):\(words[1])@\(url.hostAndPort)/"
    return .url(try Self.proxyURL(text), except: proxyExceptions)
  }

  private static func proxyURL(_ text: String) throws(CommandError) -> WebURL {
    do throws(DirectDNSError) { return try WebURL(text) } catch {
      throw CommandError(.usage, "-x: the proxy cannot be used: \(error.clause).")
    }
  }

  /// The client's certificate; what follows the first unescaped colon is the password.
  ///
  /// Split by scalars: a colon with a combining mark is one character to Swift, and the password would become a part of
  /// the file's name.
  func identity(_ readFile: (String) throws(StreamError) -> [UInt8]?) throws(CommandError) -> ClientIdentity? {
    guard let certificate else {
      guard keyPassword == nil else { throw CommandError(.usage, "--pass needs --cert: it is for its key.") }
      return nil
    }
    var file = String.UnicodeScalarView()
    var rest = certificate.unicodeScalars[...]
    var password = try keyPassword.map { text throws(CommandError) in
      try InputFile.secret(text, for: "--pass", by: readFile)
    }
    while let next = rest.popFirst() {
      if next == "\\", rest.first == ":" || rest.first == "\\", let escaped = rest.popFirst() {
        file.append(escaped)
      } else if next == ":" {
        guard password == nil else {
          throw CommandError(.usage, "--pass and a password in --cert do not go together.")
        }
        password = String(rest)
        break
      } else {
        file.append(next)
      }
    }
    try InputFile.check(String(file), of: "--cert")
    if let key { try InputFile.check(key, of: "--key") }
    return ClientIdentity(certificate: String(file), key: key, password: password.map { Secret($0) })
  }
}
