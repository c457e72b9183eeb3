// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// A response's head in the form of HTTP/1.1, whatever version it came in.
struct HeadText: Sendable {
  let head: HTTPResponse
  let connection: ConnectionDetails

  /// The lines, including the empty one: for `-i`, `-I` and `-D`.
  ///
  /// Files and pipes get the octets as they came, which need not be UTF-8; for a terminal, control characters are
  /// replaced.
  func text(forTerminal isShown: Bool) -> [UInt8] {
    let status = Self.statusLine(head, connection)
    return Array("\(isShown ? status.printable : status)\r\n".utf8)
      + Self.text(trailers: head.headerFields, forTerminal: isShown) + Array("\r\n".utf8)
  }

  /// The trailers, as curl shows them after the body.
  static func text(trailers fields: HTTPFields, forTerminal isShown: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    for field in fields {
      if isShown {
        bytes += "\(field.name.rawName): \(field.value)".printable.utf8
      } else {
        bytes += "\(field.name.rawName): ".utf8
        bytes.append(valueOf: field)
      }
      bytes += "\r\n".utf8
    }
    return bytes
  }

  /// The heads of all hops, as curl shows them.
  static func all(of response: DirectResponse, forTerminal isShown: Bool) -> [UInt8] {
    let heads = response.hops.map { ($0.head, $0.connection) } + [(response.head, response.connection)]
    return heads.flatMap { HeadText(head: $0, connection: $1).text(forTerminal: isShown) }
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
