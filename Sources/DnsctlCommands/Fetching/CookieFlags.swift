// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The cookies of `-b` and `-c`: those sent by hand, and a jar.
struct CookieFlags: Sendable {
  /// The `Cookie` field for the URLs' own hosts.
  let byHand: String?
  /// Nil without a file: then the cookies of responses are not kept.
  let jar: CookieJar?
  private let jarPath: String?

  /// Reads the files.
  ///
  /// A missing file is an empty jar, as in curl: it may be the one that the same command writes.
  init(_ flags: RequestFlags, in context: CommandContext) throws(CommandError) {
    let (byHand, files) = (flags.cookiesByHand, flags.cookieFiles)
    self.byHand = byHand.isEmpty ? nil : byHand.joined(separator: "; ")
    jarPath = flags.jarPath
    guard !files.isEmpty || jarPath != nil else {
      jar = nil
      return
    }
    // -c writes what -b has read: a limit would take cookies out of the file, and curl has none. What servers add is
    // bounded by the requests of one command.
    let jar = CookieJar(
      CookieJarConfiguration(maximumCookies: .max, maximumCookiesPerDomain: .max, order: .curl), clock: context.clock)
    self.jar = jar
    for file in files where !file.isEmpty {
      for problem in try Self.load(file, into: jar, in: context) {
        context.reportError("\(file.printable): \(problem): the line is skipped.")
      }
    }
  }

  private static func load(
    _ file: String, into jar: CookieJar, in context: CommandContext
  ) throws(CommandError) -> [NetscapeCookieFile.Problem] {
    guard file != Pipeline.inputMark else {
      return jar.load(text: try InputFile.read(file, for: "-b", by: context.readFile))
    }
    do throws(DirectDNSError) { return try jar.load(NetscapeCookieFile(path: file)) } catch {
      if let reason = error.underlying as? FileFailure, reason.isMissing { return [] }
      throw CommandError(.streams, "-b: \(error.clause).")
    }
  }

  /// Writes the jar to the file of `-c`.
  func save(in context: CommandContext) -> ExitStatus {
    guard let jar, let jarPath else { return .answered }
    do throws(CommandError) {
      for cookie in try Self.write(jar, to: jarPath, in: context) {
        let name = cookie.name.isEmpty ? "of \(cookie.domain) without a name" : cookie.name.printable
        context.reportError("\(jarPath.printable): the cookie \(name) has no place in a cookie file.")
      }
      return .answered
    } catch {
      return error.status(in: context, of: "fetch")
    }
  }

  private static func write(
    _ jar: CookieJar, to path: String, in context: CommandContext
  ) throws(CommandError) -> [Cookie] {
    guard path != Pipeline.inputMark else {
      let (text, leftOut) = NetscapeCookieFile.text(jar.cookies)
      try context.print(text)
      return leftOut
    }
    do throws(DirectDNSError) { return try jar.save(to: NetscapeCookieFile(path: path)) } catch {
      throw CommandError(.streams, "-c: \(error.clause).")
    }
  }
}

extension RequestFlags {
  /// The cookies of `-b` themselves.
  fileprivate var cookiesByHand: [String] { cookies.filter { !Self.namesFile($0) } }

  /// The files that `-b` names.
  var cookieFiles: [String] {
    cookies.filter(Self.namesFile).map { $0.hasPrefix("@") ? String($0.dropFirst()) : $0 }
  }

  /// Whether a `-b` names a file, as curl has it: without an equals sign, or behind an at sign (tool_getparam.c).
  private static func namesFile(_ text: String) -> Bool {
    // By bytes: a combining mark after the sign would hide it from `Character`.
    text.hasPrefix("@") || !text.utf8.contains(UInt8(ascii: "="))
  }
}
