// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl rewrite`: turns requests for names into requests to addresses.
struct RewriteCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "rewrite",
    abstract: "Show the request that goes straight to an address.",
    discussion: """
      Nothing is sent but the lookup. A request that cannot be rewritten, for example because no address is known, is bypassed: if it is sent as it is, its client looks the name up by itself, and no policy checks where it leads. One that must not be sent is refused.

      In the literal form over https the client has to be told serverName, for SNI and the certificate. originalUrl repeats the query and a password in the URL: take it out of headers before a request goes to a server that is not yours.

      With -, requests come from standard input, one JSON object a line, blank lines left out:
        {"url": …, "method": …, "headers": [[name, value], …], "address": …}
      Only url is required. Each gives one line of JSON, in the same order and as soon as it is there:
        {"outcome": "rewritten|bypassed|refused", "reason", "form", "url",
         "host", "originalUrl", "headers", "serverName", "port", "address",
         "addresses"}
      What does not apply is null; reason is a code, a colon and words.

      EXAMPLES
        dnsctl rewrite https://www.example.com/
        line=$(dnsctl rewrite --format curl https://example.com/) && eval "$line"
        dnsctl rewrite --address 192.0.2.1 --allow 192.0.2.0/24 http://shop.example/
        dnsctl rewrite - < requests.jsonl

      EXIT STATUS
          0  every request was rewritten or bypassed
          3  a request was refused, or --format curl has no command for it
         64  the command line is wrong
         74  standard input or a file could not be read, or standard output
             not written
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone
        143  terminated, with a store, which has what was learned

      The environment counts as for dnsctl resolve.
      """)

  @OptionGroup(title: "Address options")
  var policy: PolicyOptions

  @Option(
    help: ArgumentHelp("The address to go to, instead of looking the host up.", valueName: "ip"),
    transform: { text in
      guard let address = IPAddress.written(text) else {
        throw ValidationError("\"\(text.printable)\" is not an IP address. Write 192.0.2.1 or 2001:db8::1.")
      }
      return address
    })
  var address: IPAddress?

  @Option(help: "Where the address stands: in the URL, or beside it.")
  var form = FormOption.literal

  @Option(
    name: [.customShort("f", allowingJoined: true), .customLong("format")],
    help: "How requests are written. (default: json with -, otherwise text)")
  var format: RewriteFormat?

  @Flag(help: "The same as --format json.")
  var json = false

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @Argument(
    help: ArgumentHelp("A URL; - reads requests from standard input, one a line.", valueName: "url"))
  var urls: [String]

  func validate() throws {
    guard !json || format ?? .json == .json else { throw ValidationError("Choose one of --format and --json.") }
  }

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let settings = try settings(in: context)
    return try await context.withResolver(settings) { [self] resolver, context in
      let lookup = RequestLookup(
        rewriter: RequestRewriter(
          form: form.form, policy: policy.policy(over: settings.addressPolicy), direct: settings.direct),
        resolver: resolver, options: settings.lookup)
      return await run(lookup, in: context)
    }
  }

  private func run(_ lookup: RequestLookup, in context: CommandContext) async -> ExitStatus {
    let format = json ? .json : format ?? (urls.contains(Pipeline.inputMark) ? .json : .text)
    let work: @Sendable (Pipeline.Item) async -> RewriteResult = { [address, count = urls.count] item in
      var result: RewriteResult
      do throws(DirectDNSError) {
        result = await lookup.rewrite(try RewriteInput(item, address: address))
      } catch {
        result = RewriteResult(text: item.text, outcome: .refused(error))
      }
      switch item {
      case .argument(_, let number): if count > 1 { result.place = "URL \(number + 1) of \(count): " }
      case .line(_, let number), .unreadable(_, let number): result.place = "standard input:\(number): "
      }
      return result
    }
    let pipeline = OrderedPipeline(input: context.input, lines: LineSplitter(.json), work: work)
    return await pipeline.run(urls, in: context) { result in (format.render(result), format.status(of: result)) }
  }

  private func settings(in context: CommandContext) throws(CommandError) -> DirectSettings {
    var settings = try lookupArguments.settings(in: context)
    if !urls.contains(Pipeline.inputMark) { settings.resolver.keepAlive = [] }
    return settings
  }
}

/// `literal` or `pinned`.
enum FormOption: String, ExpressibleByArgument, CaseIterable, Sendable {
  case literal, pinned

  var form: DirectRequest.Form {
    switch self {
    case .literal: .literal
    case .pinned: .pinned
    }
  }
}
