// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A cookie file in the Netscape format, shared with curl (`-b`, `-c`) and wget (`--load-cookies`, `--save-cookies`).
///
/// The format has no `SameSite` and no time of creation: a loaded cookie counts as created when it is loaded.
public struct NetscapeCookieFile: Hashable, Sendable {
  /// A line that was skipped.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// The line's number; the first is 1.
    public let line: Int
    /// What is wrong with the line, without the cookie's value.
    public let reason: String

    /// The number and the reason.
    public var description: String { "line \(line) \(reason)" }
  }

  /// What a file holds.
  public struct Contents: Hashable, Sendable {
    /// The cookies, in the file's order.
    public let cookies: [Cookie]
    /// The lines that hold no cookie and no comment.
    public let problems: [Problem]

    fileprivate init(_ bytes: [UInt8], now: CookieTime) {
      (cookies, problems) = NetscapeCookieText.decode(bytes, now: now)
    }
  }

  /// Where the file is.
  public let path: String

  /// Names a file; nothing is read or written yet.
  public init(path: String) { self.path = path }

  /// Reads the file.
  ///
  /// - Parameter now: the present; cookies expire at most 400 days later.
  /// - Returns: its cookies, expired ones included, and the lines that were skipped.
  /// - Throws: `fileUnusable` when the file is not there or cannot be read.
  public func load(now: CookieTime) throws(DirectDNSError) -> Contents {
    let bytes: [UInt8]
    do throws(FileFailure) { bytes = try ReadableFile(path).readToEnd() } catch {
      throw DirectDNSError(
        .fileUnusable, "The cookie file \(path) cannot be read: \(error.reason).", underlying: error)
    }
    return Contents(bytes, now: now)
  }

  /// Replaces the file, whole or not at all; only its owner can read it.
  ///
  /// Anything but a regular file is written in place: a device, a FIFO (which waits for its reader), or the target of a
  /// link, which a failure may leave half written; so is a file that is mounted by itself, as into a container. A link
  /// that belongs neither to this process's user nor to root is refused.
  ///
  /// - Parameter cookies: what to write.
  /// - Returns: the cookies that the format has no way to write, which are left out: those without a name, and those
  ///   with a tab in them.
  /// - Throws: `fileUnusable` when it cannot be written; a regular file that was there before is still there.
  @discardableResult
  public func save(_ cookies: some Sequence<Cookie>) throws(DirectDNSError) -> [Cookie] {
    let (text, leftOut) = Self.text(cookies)
    do throws(FileFailure) {
      try PrivateFile.write(Array(text.utf8), to: path)
    } catch {
      throw DirectDNSError(.fileUnusable, "The cookie file \(path) cannot be written: \(error.reason).")
    }
    return leftOut
  }

  /// The content of a file with these cookies, to be written elsewhere.
  ///
  /// - Parameter cookies: what to write.
  /// - Returns: the text, and the cookies that the format has no way to write.
  public static func text(_ cookies: some Sequence<Cookie>) -> (text: String, leftOut: [Cookie]) {
    NetscapeCookieText.encode(cookies)
  }
}

extension CookieJar {
  /// Stores the cookies of a file, each in place of the one with the same name, domain and path.
  ///
  /// - Parameter file: the file.
  /// - Returns: the lines that were skipped.
  /// - Throws: `fileUnusable` when the file is not there or cannot be read.
  @discardableResult
  public func load(_ file: NetscapeCookieFile) throws(DirectDNSError) -> [NetscapeCookieFile.Problem] {
    take(try file.load(now: now))
  }

  /// Stores the cookies of a file that was read elsewhere, each in place of the one with the same name, domain and
  /// path.
  ///
  /// - Parameter text: the file's content.
  /// - Returns: the lines that were skipped.
  @discardableResult
  public func load(text: [UInt8]) -> [NetscapeCookieFile.Problem] {
    take(NetscapeCookieFile.Contents(text, now: now))
  }

  private func take(_ contents: NetscapeCookieFile.Contents) -> [NetscapeCookieFile.Problem] {
    store(contents.cookies)
    return contents.problems
  }

  /// Writes every cookie into a file, session cookies too.
  ///
  /// - Parameter file: the file; it is replaced.
  /// - Returns: the cookies that the format has no way to write, which are left out.
  /// - Throws: `fileUnusable` when it cannot be written.
  @discardableResult
  public func save(to file: NetscapeCookieFile) throws(DirectDNSError) -> [Cookie] {
    try file.save(cookies)
  }
}

/// Writes a file that holds secrets: others can never read it, not even for a moment.
enum PrivateFile {
  /// Writes a new file of mode 0600 beside the one at `path`, and then puts it in its place: all of it or nothing.
  ///
  /// Anything but a regular file, and one that is mounted by itself, is written in place, as curl does: it cannot be
  /// replaced.
  static func write(_ bytes: [UInt8], to path: String) throws(FileFailure) {
    if case .inPlace(let isLink) = try PathTarget(path) {
      let file = try WritableFile.inPlace(path, isLink: isLink, isPrivate: true)
      try file.write(bytes)
      return try file.end()
    }
    let name = WritableFile.draftPath(of: path, ending: ".\(getpid()).\(UInt32.random(in: 0 ... .max))")
    let draft = try WritableFile.new(name, mode: WritableFile.privateMode)
    do throws(FileFailure) {
      try draft.write(bytes)
      try draft.end(inPlaceOf: path)
    } catch {
      draft.remove()
      throw error
    }
  }
}
