// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSProxy
internal import DnsctlCommands

/// How a proxy listens, who may use it, and what it waits for.
struct ProxyOptions: ParsableArguments {
  @Option(
    name: .customLong("listen"),
    help: ArgumentHelp(
      "Where to listen: ADDRESS:PORT, [ADDRESS]:PORT with IPv6, or unix:PATH; may be given several times. Port 0 is any that is free. (default: the sockets that systemd hands over, else 127.0.0.1:3128)",
      valueName: "address"),
    transform: { text in try ProxyOptions.shown { () throws(DirectDNSError) in try ListenAddress(text) } })
  var listening: [ListenAddress] = []

  @Option(
    name: .customLong("users"),
    help: ArgumentHelp(
      "Who may use it: a file of lines NAME:HASH, as htpasswd -B writes them.", valueName: "file"),
    completion: .file())
  var usersPath: String?

  @Option(
    name: .customLong("token"),
    help: ArgumentHelp(
      "A password of 8 characters or more that is right with any name: @FILE, or the name of an environment variable behind a $ in quotes.",
      valueName: "@file|$name"))
  var token: String?

  @Option(
    name: .customLong("peer-uid"),
    help: ArgumentHelp(
      "A user of this machine, by number (id -u), who may connect to unix: sockets, of those whom the socket's mode lets, which comes of the umask; may be given several times. Others are disconnected. (default: whom the mode lets)",
      valueName: "uid"))
  var peers: [UInt32] = []

  @OptionGroup
  var allowed: PortOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The threads that carry connections, from 1 to 64. (default: 1)", valueName: "n"),
    transform: { text in
      guard let count = Int(text), (1...64).contains(count) else {
        throw ValidationError("Give a whole number of threads, from 1 to 64.")
      }
      return count
    })
  var loops = 1

  @Option(
    name: .customLong("max-clients"), parsing: .unconditional,
    help: ArgumentHelp("The most connections of clients at a time.", valueName: "n"))
  var clients = 10_000

  @Option(
    name: .customLong("max-tunnels"), parsing: .unconditional,
    help: ArgumentHelp("The most tunnels at a time. (default: as many as clients)", valueName: "n"))
  var tunnels: Int?

  @Option(
    name: .customLong("connect-timeout"), parsing: .unconditional,
    help: ArgumentHelp("Seconds that connecting may take, over all addresses. (default: 5)", valueName: "s"),
    transform: { text in try Seconds.timeoutOption(text) })
  var connectTimeout: Duration?

  @Option(
    name: .customLong("idle-timeout"), parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds after which a tunnel ends in which nothing moves, or a response of which the client takes nothing. (default: 3600)",
      valueName: "s"),
    transform: { text in try Seconds.timeoutOption(text) })
  var idleTimeout: Duration?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds that what is under way may take at the end; 0 cuts it off. (default: 8)", valueName: "s"),
    transform: { text in try Seconds.waitOption(text) })
  var drain: Duration?

  @Option(
    name: .customLong("access-log"),
    help: ArgumentHelp(
      "Write a line for each request to standard output: json or combined. Paths are left out. (default: off)",
      valueName: "format"))
  var logFormat: AccessLogFormat?

  @Flag(name: .customLong("log-paths"), help: "Have paths in the access log, without their queries.")
  var logsPaths = false

  @Flag(name: .customLong("log-probes"), help: "Have requests for /live and /ready in the access log.")
  var logsProbes = false

  @Flag(
    name: .customLong("serve-metrics"),
    help: "Answer /metrics of the proxy itself, for Prometheus at 127.0.0.1, ::1 or a Unix socket.")
  var servesMetrics = false

  func validate() throws {
    if clients < 1 { throw ValidationError("--max-clients must be 1 or more.") }
    if let tunnels, tunnels < 1 { throw ValidationError("--max-tunnels must be 1 or more.") }
    if logsPaths, logFormat == nil { throw ValidationError("--log-paths needs --access-log.") }
    if logsProbes, logFormat == nil { throw ValidationError("--log-probes needs --access-log.") }
  }

  /// Where it listens in addition to the sockets that systemd handed over.
  func listeners(beside inherited: [Int32]) -> [ListenAddress] {
    listening.isEmpty && inherited.isEmpty ? [.tcp(.loopback(), port: 3128)] : listening
  }

  var limits: ProxyLimits {
    var limits = ProxyLimits()
    limits.clients = clients
    limits.tunnels = tunnels
    if let connectTimeout { limits.connectTimeout = connectTimeout }
    if let idleTimeout { limits.tunnelTimeout = idleTimeout }
    if let drain { limits.drainTimeout = drain }
    return limits
  }

  /// The lines of the file of `--users`; none without that option.
  func userLines(in context: CommandContext) throws(CommandError) -> String {
    guard let usersPath else { return "" }
    return try Self.text(of: usersPath, "--users", in: context)
  }

  /// The token of `--token`; none without that option.
  func tokens(in context: CommandContext) throws(CommandError) -> [Secret] {
    guard let token else { return [] }
    guard let text = try Self.secret(token, "--token", in: context) else {
      throw CommandError(
        .usage,
        "--token: write @FILE, or '$NAME' of an environment variable: all users of a machine can see a command line.")
    }
    // Alone, so that a token that is too short is not taken for a mistake in the file of users.
    do throws(DirectDNSError) { _ = try ProxyUsers(tokens: [Secret(text)]) } catch {
      throw CommandError(.configuration, "--token: \(error.clause).")
    }
    return [Secret(text)]
  }

  /// Who may use it, by such lines and tokens; nil for anybody.
  func users(_ lines: String, _ tokens: [Secret]) throws(CommandError) -> ProxyUsers? {
    guard usersPath != nil || token != nil else { return nil }
    do throws(DirectDNSError) { return try ProxyUsers(lines: lines, tokens: tokens) } catch {
      throw CommandError(.configuration, "\(usersPath?.printable ?? "--token"): \(error.clause).")
    }
  }

  /// The first line of `@FILE`, or the value of `$NAME` in the environment; nil for any other text.
  static func secret(
    _ text: String, _ option: String, in context: CommandContext
  ) throws(CommandError) -> String? {
    let secret = try given(text, option, in: context)
    // What is not UTF-8 was read as this character, and would be another password.
    guard secret?.unicodeScalars.contains("\u{fffd}") != true else {
      throw CommandError(.configuration, "\(option): it is not UTF-8: write it as UTF-8, or take letters and digits.")
    }
    return secret
  }

  private static func given(
    _ text: String, _ option: String, in context: CommandContext
  ) throws(CommandError) -> String? {
    if text.hasPrefix("@") {
      return String(try Self.text(of: String(text.dropFirst()), option, in: context).prefix { !$0.isNewline })
    }
    guard text.hasPrefix("$") else { return nil }
    guard let value = context.environment[String(text.dropFirst())] else {
      // Without its name, which may be a password that begins with a dollar.
      throw CommandError(.usage, "\(option): the environment has no variable of that name.")
    }
    return value
  }

  private static func text(of path: String, _ option: String, in context: CommandContext) throws(CommandError)
    -> String
  {
    let text = String(decoding: try InputFile.read(path, for: option, by: context.readFile), as: UTF8.self)
    // A byte-order mark is no part of what the file says.
    return text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
  }

  /// The writer of the access log; nil if there is none.
  func accessLog(in context: CommandContext) -> AccessLogWriter? {
    logFormat.map {
      AccessLogWriter(
        $0, showsPaths: logsPaths, showsProbes: logsProbes, context.output, clock: context.clock,
        reportError: { context.reportError($0) })
    }
  }

  static func shown<Value>(_ read: () throws(DirectDNSError) -> Value) throws -> Value {
    do throws(DirectDNSError) { return try read() } catch { throw ValidationError(error.message) }
  }
}
