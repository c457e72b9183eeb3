// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// Where responses go, with curl's options.
struct OutputFlags: ParsableArguments {
  @Option(
    name: [.customShort("o"), .customLong("output")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The file that the body goes to, - for standard output. The first one is the first URL's, and so on.",
      valueName: "file"),
    completion: .file())
  var outputs: [String] = []

  @Flag(
    name: [.customShort("O"), .customLong("remote-name")],
    help: "Name the file as the URL's path ends. The first -O is the first URL's, and so on.")
  var remoteNames: Int

  @Flag(name: .customLong("remote-name-all"), help: "As -O, for every URL.")
  var namesAll = false

  @Option(
    name: [.customShort("C"), .customLong("continue-at")], parsing: .unconditional,
    help: ArgumentHelp("With -: continue where the file ends, instead of starting over.", valueName: "-"),
    transform: { text in
      guard text == "-" else {
        throw ValidationError("Only -C - is offered: it continues where the file ends.")
      }
      return true
    })
  var resumes = false

  @Flag(name: [.customShort("i"), .customLong("include")], help: "Show the heads of responses before the body.")
  var includesHeads = false

  @Option(
    name: [.customShort("D"), .customLong("dump-header")], parsing: .unconditional,
    help: ArgumentHelp("Where to write the heads of all responses, - for standard output.", valueName: "file"),
    completion: .file())
  var headPath: String?

  @Option(
    name: [.customShort("w"), .customLong("write-out")], parsing: .unconditional,
    help: ArgumentHelp(
      "What to write after each transfer: text with %{variables}, %header{name}, %{json}, \\n, \\t and %%. @FILE holds it, and its line ends do not count; @- standard input.",
      valueName: "format|@file"))
  var writeOut: String?

  @Flag(
    name: [.customShort("f"), .customLong("fail")],
    help:
      "Treat a status of 400 or above as a failure: end with 22, and write no body. The heads of -I are written, and those of -i where they go to standard output."
  )
  var failsOnStatus = false

  @Flag(name: .customLong("fail-with-body"), help: "As -f, but write heads and body all the same; not with -C.")
  var failsWithBody = false

  @Flag(name: [.customShort("s"), .customLong("silent")], help: "Show no progress and no errors.")
  var isSilent = false

  @Flag(name: [.customShort("S"), .customLong("show-error")], help: "Show errors even with -s.")
  var showsErrors = false

  @Flag(
    name: [.customShort("v"), .customLong("verbose")],
    help: "Show on standard error what happens: names, addresses, TLS, and the heads of requests and responses.")
  var isVerbose = false

  @Flag(name: [.customShort("N"), .customLong("no-buffer")], help: "Do not buffer the output, which is the default.")
  var isUnbuffered = false

  @Flag(name: [.customShort("Z"), .customLong("parallel")], help: "Fetch all URLs at once.")
  var isParallel = false
}

/// Where a response's body goes.
enum Destination: Sendable, Hashable {
  case standardOutput
  case file(String)

  var path: String? {
    if case .file(let path) = self { path } else { nil }
  }
}

extension OutputFlags {
  /// Whether errors are not told: `-s` without `-S`.
  var isMute: Bool { isSilent && !showsErrors }

  /// Where each URL's body goes.
  func destinations(_ urls: [WebURL]) throws(CommandError) -> [Destination] {
    let named = namesAll ? urls.count : remoteNames
    guard outputs.isEmpty || named == 0 else {
      throw CommandError(.usage, "give -o or -O, not both: they would have to be paired with URLs.")
    }
    guard max(outputs.count, remoteNames) <= urls.count else {
      let option = outputs.isEmpty ? "-O" : "-o"
      throw CommandError(.usage, "there are more \(option) than URLs.")
    }
    var destinations: [Destination] = []
    var taken: Set<String> = []
    let heads = headPath.map(Self.plain)
    if let heads, heads != "-", heads != "/dev/null" { taken.insert(heads) }
    for (index, url) in urls.enumerated() {
      var path: String?
      if index < outputs.count {
        path = outputs[index] == "-" ? nil : outputs[index]
      } else if index < named {
        path = try Self.remoteName(of: url)
      }
      if let path, path != "/dev/null", !taken.insert(Self.plain(path)).inserted {
        throw CommandError(
          .usage,
          Self.plain(path) == heads
            ? "the heads of -D and a body would be written to \(path.printable): name two files."
            : "Two URLs would be written to \(path.printable). Name the files with -o.")
      }
      destinations.append(path.map { .file($0) } ?? .standardOutput)
    }
    guard !resumes || destinations.allSatisfy({ $0 != .standardOutput }) else {
      throw CommandError(.usage, "-C needs a file to continue: name it with -o or -O.")
    }
    guard !resumes || !includesHeads else {
      throw CommandError(.usage, "-C and -i do not go together: a head has no place in the middle of a file.")
    }
    return destinations
  }

  /// A path without redundant parts: `./a//b` is `a/b`.
  static func plain(_ path: String) -> String {
    let parts = path.split(separator: "/").filter { $0 != "." }
    return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }

  /// The last part of a URL's path, still percent-encoded, so that it contains no slash and nothing invisible.
  static func remoteName(of url: WebURL) throws(CommandError) -> String {
    let name = url.path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
    guard !name.allSatisfy({ $0 == "." }) else {
      throw CommandError(
        .usage, "\(Origin(url)): the URL's path does not end in a file's name. Name the file with -o.")
    }
    return name
  }
}
