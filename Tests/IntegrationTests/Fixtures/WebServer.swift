// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A web server from the system's packages that serves ``LabSite`` on 127.0.0.1 and on ::1.
///
/// It has a port for http and one for https, where HTTP/2 and HTTP/1.1 are offered.
protocol WebServer: RealServer {
  /// The port of `http`.
  var httpPort: UInt16 { get }

  /// Where the server writes down its requests, a line each; see ``AccessLogLine``.
  var accessLog: URL { get }
}

extension WebServer {
  /// The requests that were answered, as soon as there are that many.
  ///
  /// Servers write a request down after it was answered, so that a client can be ahead of the log.
  func requests(_ count: Int) async throws -> [AccessLogLine] {
    let deadline = ContinuousClock.now + .seconds(10)
    while true {
      let text = try String(contentsOf: accessLog, encoding: .utf8)
      let lines = text.split(separator: "\n").compactMap { AccessLogLine($0) }
      if lines.count >= count { return lines }
      guard ContinuousClock.now < deadline else {
        throw ServerFixture.Failure("\(Self.name) has written down \(lines.count) of \(count) requests:\n\(text)")
      }
      // A server writes its log after its answer, and tells nobody.
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}

/// One request as a web server wrote it down.
struct AccessLogLine: Equatable, Sendable {
  /// The virtual host that answered.
  var host: String
  /// The address that the client connected to.
  var address: String
  /// The client's port, by which connections are told apart.
  var clientPort: Int
  /// `HTTP/1.1` or `HTTP/2.0`.
  var version: String
  var method: String
  /// The path and the query.
  var target: String
  var status: Int
  /// The `Cookie` field; `-` without one.
  var cookie: String

  /// The fields in nginx's words and in Apache's, in the order of the properties.
  static let nginxFormat =
    "$server_name|$server_addr|$remote_port|$server_protocol|$request_method|$request_uri|$status|$http_cookie"
  static let apacheFormat = "%v|%A|%{remote}p|%H|%m|%U%q|%>s|%{Cookie}i"

  init?(_ line: Substring) {
    let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 8, let port = Int(fields[2]), let status = Int(fields[6]) else { return nil }
    host = fields[0]
    address = fields[1]
    clientPort = port
    version = fields[3]
    method = fields[4]
    target = fields[5]
    self.status = status
    cookie = fields[7].isEmpty ? "-" : fields[7]
  }
}

/// The kinds of web server there are: what a test that holds for each of them takes as its argument.
enum WebKind: String, CaseIterable, Sendable {
  case nginx
  case apache

  var server: any WebServer.Type {
    switch self {
    case .nginx: NginxSite.self
    case .apache: ApacheSite.self
    }
  }

  /// The programs that tests with them need and this machine lacks.
  static let missing: [String] = {
    var missing = ["nginx", "curl"].filter { ServerFixture.path(of: $0) == nil }
    if ApacheSite.program == nil || ApacheSite.modules == nil { missing.append("apache2") }
    return missing
  }()
}
