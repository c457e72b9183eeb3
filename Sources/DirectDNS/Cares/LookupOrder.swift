// SPDX-License-Identifier: Apache-2.0
/// Which comes first, the hosts file or the DNS, as nsswitch.conf(5) has it.
///
/// c-ares goes by that file, and from 1.22 on does not tell what it has read there: it is read here likewise.
struct LookupOrder: Sendable, Hashable {
  /// Whether the hosts file is looked into only after the DNS.
  private(set) var asksDNSFirst = false

  /// Reads the text of an nsswitch.conf; where it names neither of the two, the hosts file comes first.
  init(nsswitch text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      // Of several lines the last one counts.
      guard let colon = line.firstIndex(of: ":"), Self.words(line[..<colon]) == ["hosts"] else { continue }
      let services = Self.words(line[line.index(after: colon)...]).map { $0.lowercased() }
      guard let first = services.first(where: { Self.dns.contains($0) || Self.files.contains($0) }) else { continue }
      asksDNSFirst = Self.dns.contains(first)
    }
  }

  /// Reads a file; one that cannot be read is an empty one.
  init(ofFile path: String) {
    let bytes = try? ReadableFile(path, waits: false).readToEnd(limit: 1 << 20)
    self.init(nsswitch: String(decoding: bytes ?? [], as: UTF8.self))
  }

  private static let dns = ["dns", "bind", "resolv", "resolve"]
  private static let files = ["files", "file", "local"]

  private static func words(_ text: Substring) -> [Substring] { text.split { $0 == " " || $0 == "\t" } }
}
