// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSProxy
internal import DnsctlCommands

/// How a line of the access log is written.
enum AccessLogFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// A JSON object per line.
  case json
  /// As Apache and nginx write it.
  case combined

  /// One request or tunnel as a line: a pure function of what was done and when it ended.
  ///
  /// - Parameters:
  ///   - access: the request or tunnel.
  ///   - showsPath: whether it has the path; it never has the query.
  ///   - ended: the wall clock when it ended.
  /// - Returns: the line, with its end.
  func line(_ access: ProxyAccess, showsPath: Bool, ended: WallInstant) -> String {
    switch self {
    case .json: Self.jsonLine(access, showsPath: showsPath, ended: ended)
    case .combined: Self.combinedLine(access, showsPath: showsPath, ended: ended)
    }
  }

  private static func jsonLine(_ access: ProxyAccess, showsPath: Bool, ended: WallInstant) -> String {
    var line = JSONLine()
    line.add("time", "\"\(ended.text)\"")
    line.add("client", access.client.map { "\"\($0)\"" })
    line.add("user", access.user.map(JSONLine.string))
    line.add("kind", "\"\(access.kind.rawValue)\"")
    line.add("method", access.method.isEmpty ? nil : JSONLine.string(cut(access.method)))
    line.add("origin", access.origin.map { JSONLine.string(cut($0)) })
    if showsPath { line.add("path", access.path.map { JSONLine.string(cut($0)) }) }
    line.add("status", access.status.map { "\($0)" })
    line.add("error", access.error.map(JSONLine.string))
    line.add("address", access.address.map { "\"\($0)\"" })
    if let upstream = access.upstream { line.add("upstream", JSONLine.string(upstream.description)) }
    line.add("received", "\(access.received)")
    line.add("sent", "\(access.sent)")
    line.add("connectMs", access.connect?.milliseconds)
    line.add("durationMs", access.duration.milliseconds)
    return line.text
  }

  /// `CLIENT - USER [TIME] "METHOD TARGET HTTP/VERSION" STATUS BYTES "-" "-"`.
  private static func combinedLine(_ access: ProxyAccess, showsPath: Bool, ended: WallInstant) -> String {
    let target = cut(access.origin ?? "-") + (showsPath ? cut(access.path ?? "") : "")
    let request =
      "\(access.method.isEmpty ? access.kind.rawValue : cut(access.method)) \(target)"
      + (access.httpVersion.map { " HTTP/\($0)" } ?? "")
    let client = access.client.map { "\($0)" } ?? "unix:"
    let status = access.status.map { "\($0)" } ?? "-"
    return
      "\(client) - \(access.user.map(escaped) ?? "-") [\(ended.commonLogText)] \"\(escaped(request))\" \(status) \(access.sent) \"-\" \"-\"\n"
  }

  /// The most bytes of a method, an origin or a path, of which a client can send 64 KiB: few URLs are longer.
  private static let partSize = 2048

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > partSize else { return text }
    return String(decoding: text.utf8.prefix(partSize), as: UTF8.self) + "…"
  }

  /// Writes what would end a quoted text, or act on a terminal, as `\xNN`.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" || scalar.isUnprintable {
        for byte in String(scalar).utf8 { escaped += "\\x" + Hex.encoded([byte]) }
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
