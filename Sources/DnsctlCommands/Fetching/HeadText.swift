// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// A response's head in the form of HTTP/1.1, whatever version it came in.
struct HeadText: Sendable {
  let head: HTTPResponse
  let connection: ConnectionDetails

  /// The lines, including the empty one: for `-i`, `-I` and `-D`.
  ///
  /// Files and pipes get it as it came; for a terminal, control characters are replaced.
  func text(forTerminal isShown: Bool) -> String {
    let lines =
      [Self.statusLine(head, connection)] + Self.lines(head.headerFields) + [""]
    return Self.text(lines, forTerminal: isShown)
  }

  /// The trailers, as curl shows them after the body.
  static func text(trailers: HTTPFields, forTerminal isShown: Bool) -> String {
    text(lines(trailers), forTerminal: isShown)
  }

  private static func lines(_ fields: HTTPFields) -> [String] { fields.map { "\($0.name.rawName): \($0.value)" } }

  private static func text(_ lines: [String], forTerminal isShown: Bool) -> String {
    lines.map { "\(isShown ? $0.printable : $0)\r\n" }.joined()
  }

  /// The heads of all hops, as curl shows them.
  static func all(of response: DirectResponse, forTerminal isShown: Bool) -> String {
    let heads = response.hops.map { ($0.head, $0.connection) } + [(response.head, response.connection)]
    return heads.map { HeadText(head: $0, connection: $1).text(forTerminal: isShown) }.joined()
  }

  static func statusLine(_ head: HTTPResponse, _ connection: ConnectionDetails) -> String {
    let version = connection.httpVersion
    // HTTP/2 has no reason phrases (RFC 9113 §8.3.2), and none is made up.
    guard version.major < 2 else { return "HTTP/\(version) \(head.status.code)" }
    return "HTTP/\(version) \(head.status.code) \(head.status.reasonPhrase)"
  }

  /// Fields as `-v` shows them, without secrets.
  static func lines(_ fields: HTTPFields, mark: Character, secrets: Set<HTTPField.Name>) -> [String] {
    fields.map { field in
      let value = secrets.contains(field.name) ? "<redacted>" : field.value
      return "\(mark) \(field.name.rawName): \(value)"
    }
  }

  /// Fields whose values are always secret.
  static let secrets: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie, .setCookie]
}
