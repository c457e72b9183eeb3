/// What becomes of a file that is to be continued, once the server has answered: a pure function.
///
/// A file is never made of two halves that do not belong together.
enum ResumeRule {
  enum Verdict: Sendable, Hashable {
    /// What comes belongs behind what is there.
    case append
    /// The server sends the whole: it takes the file's place.
    case startOver
    /// The file is whole already.
    case complete
    /// Neither: the file stays as it is. The reason follows "the file cannot be continued: ".
    case refused(String)
  }

  /// Judges the answer to a request for all bytes from `offset` on (RFC 9110 §14).
  static func verdict(offset: Int64, status: Int, contentRange: String?) -> Verdict {
    let range = contentRange.flatMap(ContentRange.init)
    switch status {
    case 206:
      guard let range, let first = range.first else { return .refused("the server does not say what part it sends") }
      guard first == offset else {
        return .refused("it has \(offset.counted("byte")), and the server sends from byte \(first) on")
      }
      return .append
    case 416:
      guard let length = range?.length else {
        return .refused(
          "it has \(offset.counted("byte")), and the server has none behind them and does not say how many before")
      }
      guard length == offset else {
        return .refused("it has \(offset.counted("byte")), and the server's has \(length)")
      }
      return .complete
    case 200..<300: return .startOver
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

  private static func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
  }
}
