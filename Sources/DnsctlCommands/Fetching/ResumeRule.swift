// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// What to do with a file that is to be continued, after the server's answer: a pure function.
///
/// A file is never made of parts of different versions.
enum ResumeRule {
  enum Verdict: Sendable, Hashable {
    /// The response has the missing bytes: so many.
    case append(Int64)
    /// The server sends the whole file, which replaces what is there.
    case startOver
    /// The file is complete already.
    case complete
    /// What is there was written by us, but does not fit the server's file any more: the whole is requested, for that
    /// reason.
    case askAnew(String)
    /// The file stays as it is. The reason follows "the file cannot be continued: ".
    case refused(String)
  }

  /// Evaluates the answer to a request for all bytes after what is there (RFC 9110 §14).
  static func verdict(_ beginning: OutputFile.Beginning, status: Int, fields: HTTPFields) -> Verdict {
    let offset = beginning.length
    let range = fields[.contentRange].flatMap(ContentRange.init)
    // Without a record the file may be anything, and only its owner may remove it.
    func unfit(_ reason: String) -> Verdict { beginning.record == nil ? .refused(reason) : .askAnew(reason) }
    if let known = beginning.record?.length, let length = range?.length, status == 206 || status == 416, known != length
    {
      return unfit("it began as a part of \(known.counted("byte")), and the server's has \(length)")
    }
    switch status {
    case 206:
      guard let range, let first = range.first, let last = range.last else {
        return unfit("the server does not say what part it sends")
      }
      guard first == offset else {
        return unfit("it has \(offset.counted("byte")), and the server sends from byte \(first) on")
      }
      guard beginning.record?.fits(fields) ?? true else { return unfit("it began as a part of another version") }
      guard let whole = range.length ?? beginning.record?.length else {
        return unfit("the server does not say how long the whole is")
      }
      guard last == whole - 1 else { return unfit("the server sends less than what is missing") }
      let missing = last - first + 1
      if let length = fields[.contentLength].flatMap(ContentRange.number), length != missing {
        return unfit("the server says that it sends \(missing.counted("byte")), and then \(length)")
      }
      return .append(missing)
    case 416:
      guard let length = range?.length else {
        return unfit(
          "it has \(offset.counted("byte")), and the server has none behind them and does not say how many before")
      }
      guard length == offset else { return unfit("it has \(offset.counted("byte")), and the server's has \(length)") }
      guard beginning.record?.fits(fields) ?? true else { return unfit("it began as a part of another version") }
      return .complete
    // No other status brings the whole file (RFC 9110 §15.3).
    case 200, 203: return .startOver
    default: return .refused("the server answered \(status)")
    }
  }
}

/// `Content-Range: bytes 5-9/10`, or `bytes */10` (RFC 9110 §14.4).
struct ContentRange: Sendable, Hashable {
  var first: Int64?
  var last: Int64?
  var length: Int64?

  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    if parts[1] != "*" {
      guard let length = Self.number(parts[1]) else { return nil }
      self.length = length
    }
    guard parts[0] != "*" else { return }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
      last < length ?? .max
    else { return nil }
    (self.first, self.last) = (first, last)
  }

  /// A number of bytes as HTTP writes it.
  static func number(_ text: some StringProtocol) -> Int64? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
  }
}
