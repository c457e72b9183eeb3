internal import DirectDNS
internal import HTTPTypes

/// Heads as HTTP/1.1 writes them, whatever version they came by.
enum HeadText {
  /// A response's head, with its empty line: for `-i` and `-I`.
  static func response(_ head: HTTPResponse, version: Int) -> String {
    let lines = [statusLine(head, version: version)] + head.headerFields.map { "\($0.name.rawName): \($0.value)" }
    return (lines + [""]).map { "\($0)\r\n" }.joined()
  }

  static func statusLine(_ head: HTTPResponse, version: Int) -> String {
    let reason = head.status.reasonPhrase
    // HTTP/2 has no reasons (RFC 9113 §8.3.2): one that is made up is left out.
    return version >= 2 ? "HTTP/\(version) \(head.status.code)" : "HTTP/1.1 \(head.status.code) \(reason)"
  }

  /// Fields as `-v` shows them: what is secret is not, and nothing moves the cursor.
  static func lines(_ fields: HTTPFields, mark: Character, secrets: Set<HTTPField.Name>) -> [String] {
    fields.map { field in
      let value = secrets.contains(field.name) ? "<redacted>" : field.value.printable
      return "\(mark) \(field.name.rawName): \(value)"
    }
  }

  /// Fields that hold secrets by what they are.
  static let secrets: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie, .setCookie]
}
