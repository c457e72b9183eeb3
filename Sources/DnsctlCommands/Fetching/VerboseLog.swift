// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes
internal import Synchronization

/// `-v`: writes to standard error what happens with a request, as it happens.
///
/// Each transfer has one of its own: several may be waiting for their connections.
final class VerboseLog: Sendable {
  private let sink: any OutputSink
  private let secrets: Set<HTTPField.Name>
  /// The request's head, until there is a connection to send it on.
  private let head = Mutex<[String]>([])

  init(_ sink: any OutputSink, secrets: Set<HTTPField.Name>) {
    self.sink = sink
    self.secrets = HeadText.secrets.union(secrets)
  }

  /// The same for another transfer.
  func anew() -> VerboseLog { VerboseLog(sink, secrets: secrets) }

  /// Writes one event.
  ///
  /// It may be called on any thread: the lines of an event are written in one piece.
  func note(_ event: RequestEvent) {
    var lines = lines(event)
    if case .requesting = event {
      head.withLock { $0 = lines }
      return
    }
    if case .connected = event { lines += head.withLock { $0 } }
    say(lines)
  }

  /// Writes a line that is no event.
  func say(_ line: String) { say(["* \(line)"]) }

  private func say(_ lines: [String]) {
    guard !lines.isEmpty else { return }
    sink.say(lines.map { "\($0.printable)\n" }.joined())
  }

  func lines(_ event: RequestEvent) -> [String] {
    switch event {
    case .sending: []
    case .resolved(let name, let resolution): ["* \(name.shown): \(Self.text(resolution))"]
    case .connecting(let address): ["* connecting to \(address)"]
    case .connectFailed(let address, let reason): ["* \(address) failed: \(reason.printable)"]
    case .connected(let address, let isReused):
      ["* \(isReused ? "using the connection" : "connected") to \(address.map(\.description) ?? "the proxy")"]
    case .secured(let line): ["* TLS: \(line.printable)"]
    case .requesting(let request):
      ["> \(request.method.rawValue) \((request.path ?? "/").printable)"] + Self.host(request)
        + HeadText.lines(request.headerFields, mark: ">", secrets: secrets) + [">"]
    case .responded(let response, let connection):
      ["< \(HeadText.statusLine(response, connection).printable)"]
        + HeadText.lines(response.headerFields, mark: "<", secrets: secrets) + ["<"]
    case .retrying(let reason): ["* sending it once more: \(reason.printable)"]
    case .redirected(let status, let url): ["* redirected with \(status) to \(Origin(url))\(url.requestTarget)"]
    }
  }

  /// The field that libcurl adds if the request has none.
  private static func host(_ request: HTTPRequest) -> [String] {
    guard let name = HTTPField.Name("Host"), request.headerFields[name] == nil else { return [] }
    return ["> Host: \(request.authority ?? "")"]
  }

  private static func text(_ resolution: Resolution) -> String {
    let addresses = resolution.addresses.map(\.description).joined(separator: ", ")
    var freshness = resolution.freshness.rawValue
    if let expiredFor = resolution.expiredFor { freshness += ", expired \(expiredFor.rough) ago" }
    let source = resolution.source.provider?.printable ?? resolution.source.kind
    let left = resolution.timeToLive.map { ", for \($0.rough)" } ?? ""
    return "\(addresses) (\(source), \(freshness)\(left))"
  }
}
