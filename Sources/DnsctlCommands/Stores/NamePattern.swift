// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A pattern of names: a glob if it has a `*` or `?`, any part of a name otherwise.
struct NamePattern: Sendable, Hashable {
  private let bytes: [UInt8]

  /// Reads a pattern; whole labels that are not ASCII are converted to the form in which names are stored.
  init(_ text: String) throws(CommandError) {
    var labels: [String] = []
    for label in text.split(separator: ".", omittingEmptySubsequences: false) {
      if label.utf8.allSatisfy({ $0 < 0x80 }) {
        labels.append(label.lowercased())
        continue
      }
      guard !label.contains(where: { $0 == "*" || $0 == "?" }) else {
        throw CommandError(
          .usage,
          "\"\(text.printable)\": names are stored in ASCII, so * and ? stand for no part of an international label. Write the whole label, or a pattern of its ASCII form, such as xn--*."
        )
      }
      do throws(DirectDNSError) { labels.append(try HostName(String(label)).text) } catch {
        throw CommandError(.usage, "\"\(text.printable)\" can be no part of a name: \(error.clause).")
      }
    }
    let pattern = labels.joined(separator: ".")
    let isGlob = pattern.contains { $0 == "*" || $0 == "?" }
    bytes = Array((isGlob ? pattern : "*\(pattern)*").utf8)
  }

  func matches(_ host: HostName) -> Bool {
    let name = Array(host.text.utf8)
    var (place, at) = (0, 0)
    /// The place of the last star, and how far the text that it matches reaches.
    var star: (place: Int, at: Int)?
    while at < name.count {
      if place < bytes.count, bytes[place] == UInt8(ascii: "*") {
        star = (place, at)
        place += 1
      } else if place < bytes.count, bytes[place] == name[at] || bytes[place] == UInt8(ascii: "?") {
        place += 1
        at += 1
      } else if let last = star {
        star = (last.place, last.at + 1)
        place = last.place + 1
        at = last.at + 1
      } else {
        return false
      }
    }
    return bytes[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
