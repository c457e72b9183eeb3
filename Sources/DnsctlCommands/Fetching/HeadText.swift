// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// A response's head as HTTP/1.1 writes it, whatever version it came by.
struct HeadText: Sendable {
  let head: HTTPResponse
  let version: Int

  /// The lines, with the empty one: for `-i`, `-I` and `-D`.
  ///
  /// A file and a pipe get it as it came; at a terminal nothing in it moves the cursor.
  func text(forTerminal isShown: Bool) -> String {
    let lines =
      [Self.statusLine(head, version: version)] + head.headerFields.map { "\($0.name.rawName): \($0.value)" }
    return (lines + [""]).map { "\(isShown ? $0.printable : $0)\r\n" }.joined()
  }

  /// The heads of all hops, as curl shows them.
  static func all(of response: DirectResponse, forTerminal isShown: Bool) -> String {
    let heads = response.hops.map { ($0.head, $0.connection) } + [(response.head, response.connection)]
    return heads.map { HeadText(head: $0, version: $1.httpVersion).text(forTerminal: isShown) }.joined()
  }

  static func statusLine(_ head: HTTPResponse, version: Int) -> String {
    let reason = head.status.reasonPhrase
    // HTTP/2 has no reasons (RFC 9113 §8.3.2): one that is made up is left out.
    return version >= 2 ? "HTTP/\(version) \(head.status.code)" : "HTTP/1.1 \(head.status.code) \(reason)"
  }

  /// Fields as `-v` shows them: what is secret is not.
  static func lines(_ fields: HTTPFields, mark: Character, secrets: Set<HTTPField.Name>) -> [String] {
    fields.map { field in
      let value = secrets.contains(field.name) ? "<redacted>" : field.value
      return "\(mark) \(field.name.rawName): \(value)"
    }
  }

  /// Fields that hold secrets by what they are.
  static let secrets: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie, .setCookie]
}
