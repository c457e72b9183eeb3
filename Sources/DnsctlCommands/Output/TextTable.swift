// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Answers as text for people: a block for each name; the columns of all blocks are aligned if the names are known
/// beforehand.
struct TextTable: Sendable {
  private let hostWidth: Int
  private let style: TextStyle

  /// Creates the layout.
  ///
  /// - Parameters:
  ///   - hosts: the names that are known beforehand.
  ///   - style: whether escape codes are used.
  init(hosts: [String], style: TextStyle) {
    // A single long name must not push all others off the screen.
    hostWidth = min(hosts.map(\.printable.columns).max() ?? 0, 40)
    self.style = style
  }

  /// The most common addresses are no longer than this, which keeps the blocks of several names aligned.
  private static let addressWidth = 15

  func block(_ host: String, _ resolution: Resolution, elapsed: Duration) -> String {
    let name = host.printable
    let width = max(hostWidth, name.columns)
    let addresses = resolution.addresses.map(\.description)
    let addressWidth = max(Self.addressWidth, addresses.map(\.count).max() ?? 0)
    let indent = String(repeating: " ", count: width)
    var lines = addresses.enumerated().map { index, address in
      guard index == 0 else { return "\(indent)  \(address)" }
      let margin = String(repeating: " ", count: width - name.columns)
      let gap = String(repeating: " ", count: addressWidth - address.count)
      return "\(style.bold(name))\(margin)  \(address)\(gap)  \(details(resolution, elapsed))"
    }
    if let alias = resolution.canonicalName { lines.append("\(indent)  \(style.dim("alias of \(alias.shown)"))") }
    return lines.map { "\($0)\n" }.joined()
  }

  private func details(_ resolution: Resolution, _ elapsed: Duration) -> String {
    var parts: [String] = []
    if let ttl = resolution.timeToLive { parts.append("ttl \(ttl.components.seconds) s") }
    parts.append(style.freshness(resolution.freshness, Self.freshness(resolution)))
    parts.append(resolution.source.provider?.printable ?? resolution.source.kind)
    parts.append(style.dim(elapsed.readable))
    return parts.joined(separator: "  ")
  }

  private static func freshness(_ resolution: Resolution) -> String {
    let word = resolution.freshness.rawValue
    guard let expiredFor = resolution.expiredFor else { return word }
    return "\(word) (expired \(expiredFor.rough) ago)"
  }
}

/// Escape codes, or none.
struct TextStyle: Sendable {
  let isOn: Bool

  func bold(_ text: String) -> String { wrap(text, "1") }
  func dim(_ text: String) -> String { wrap(text, "2") }
  func good(_ text: String) -> String { wrap(text, "32") }
  func warning(_ text: String) -> String { wrap(text, "33") }
  func failure(_ text: String) -> String { wrap(text, "31") }

  /// Green within the lifetime, yellow after it.
  func freshness(_ freshness: Resolution.Freshness, _ text: String) -> String {
    wrap(text, freshness <= .due ? "32" : "33")
  }

  private func wrap(_ text: String, _ code: String) -> String {
    isOn && !text.isEmpty ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}
