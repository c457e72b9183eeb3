// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// What is known of the whole file when its first bytes come; stored with the file, so that bytes of another version
/// are never appended.
struct ResumeRecord: Sendable, Hashable {
  /// The length of the whole; nil if the server did not say.
  var length: Int64?
  /// The validator of the version for `If-Range` (RFC 9110 §13.1.5); nil if the server gave none.
  var validator: String?

  /// What a response says about the file that it brings; nil if it does not bring the whole.
  init?(of response: HTTPResponse) {
    guard response.status == .ok else { return nil }
    length = response.headerFields[.contentLength].flatMap(ContentRange.number)
    if let tag = response.headerFields[.eTag], Self.isStrong(tag) {
      validator = tag
    } else if let modified = response.headerFields[.lastModified], let time = CookieTime(cookieDate: modified),
      let sent = response.headerFields[.date].flatMap(CookieTime.init(cookieDate:)),
      // There may have been two versions in the same second (RFC 9110 §8.8.2.2).
      sent > time
    {
      validator = modified
    }
  }

  /// Reads what ``text`` wrote; nil for anything else, since others may have written it.
  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3, words[0] == "1", words[1] == "-" || ContentRange.number(words[1]) != nil else { return nil }
    length = ContentRange.number(words[1])
    guard words[2] != "-" else { return }
    let validator = String(words[2])
    guard Self.isStrong(validator) || CookieTime(cookieDate: validator) != nil, HTTPField.isValidValue(validator) else {
      return nil
    }
    self.validator = validator
  }

  /// The format's version, the length and the validator.
  var text: String { "1 \(length.map { "\($0)" } ?? "-") \(validator ?? "-")" }

  /// Whether a partial response with these fields is of the same version, as far as they say.
  func fits(_ fields: HTTPFields) -> Bool {
    guard let validator else { return true }
    let other = Self.isStrong(validator) ? fields[.eTag] : fields[.lastModified]
    return other == nil || other == validator
  }

  /// A weak tag may be the same for different versions (RFC 9110 §8.8.3).
  private static func isStrong(_ tag: String) -> Bool {
    tag.utf8.count >= 2 && tag.utf8.count <= 1024 && tag.utf8.first == UInt8(ascii: "\"")
      && tag.utf8.last == UInt8(ascii: "\"")
  }
}
