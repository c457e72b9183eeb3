// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Which names are meant: a glob where there is a `*` or `?`, any part of a name otherwise.
struct NamePattern: Sendable, Hashable {
  private let bytes: [UInt8]

  /// Reads a pattern; labels that are not ASCII become what names are stored as.
  init(_ text: String) throws(SettingsError) {
    var labels: [String] = []
    for label in text.split(separator: ".", omittingEmptySubsequences: false) {
      if label.utf8.allSatisfy({ $0 < 0x80 }) {
        labels.append(label.lowercased())
        continue
      }
      do throws(DirectDNSError) { labels.append(try HostName(String(label)).text) } catch {
        throw SettingsError(.usage, "\"\(text.printable)\" can be no part of a name: \(error.message.asSentence)")
      }
    }
    let pattern = labels.joined(separator: ".")
    let isGlob = pattern.contains { $0 == "*" || $0 == "?" }
    bytes = Array((isGlob ? pattern : "*\(pattern)*").utf8)
  }

  func matches(_ host: HostName) -> Bool {
    let name = Array(host.text.utf8)
    var (place, at) = (0, 0)
    /// Where the last star stands, and how far its text goes.
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
