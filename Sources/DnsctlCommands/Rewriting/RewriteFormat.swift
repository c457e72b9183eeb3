// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import HTTPTypes

/// How rewritten requests are written.
enum RewriteFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json, curl

  /// The output for one request.
  ///
  /// Standard output has only requests that may be sent; with JSON it has the refused ones too.
  func render(_ result: RewriteResult) -> RenderedOutcome {
    switch (self, result.outcome) {
    case (.json, _): RenderedOutcome(output: Self.json(result))
    case (_, .refused): RenderedOutcome(errors: "dnsctl: \(result.subject)\(result.reason ?? "")\n")
    case (.text, .direct(let direct)): RenderedOutcome(output: Self.text(result, direct))
    case (.text, .bypassed):
      RenderedOutcome(output: "\(result.text.printable)\n  not rewritten  \(result.reason ?? "")\n")
    case (.curl, .direct), (.curl, .bypassed):
      switch Self.command(result) {
      case .success(let line): RenderedOutcome(output: line.text + "\n")
      case .failure(let error): RenderedOutcome(errors: "dnsctl: \(result.subject)\(error.message)\n")
      }
    }
  }

  /// The exit status for a result.
  func status(of result: RewriteResult) -> ExitStatus {
    switch (self, result.outcome) {
    case (_, .refused): .refused
    case (.curl, _): if case .success = Self.command(result) { .answered } else { .refused }
    default: .answered
    }
  }

  /// The command line of curl for a request, or why there is none.
  private static func command(_ result: RewriteResult) -> Result<CurlCommandLine, DirectDNSError> {
    do throws(DirectDNSError) {
      switch result.outcome {
      case .direct(let direct): return .success(try CurlCommandLine(direct))
      // What curl would do with it, such as read a file, was not checked.
      case .bypassed(_, .otherScheme):
        throw DirectDNSError(.refused, "Only requests of http, https, ws and wss are rewritten.")
      case .bypassed(let request, _): return .success(try CurlCommandLine(bypassed: request))
      case .refused(let error): throw error
      }
    } catch {
      return .failure(error)
    }
  }

  private static func text(_ result: RewriteResult, _ direct: DirectRequest) -> String {
    var rows = [
      ("address", "\(direct.address) port \(direct.port)"), ("URL", direct.url.href), ("Host", direct.host),
    ]
    if direct.form == .literal { rows.append(("originalUrl", direct.originalURLField)) }
    if let name = direct.serverName { rows.append(("server name", name.text)) }
    let others = direct.addresses.dropFirst().map(\.description)
    if !others.isEmpty { rows.append(("others", others.joined(separator: ", "))) }
    return rows.reduce(result.text.printable + "\n") { text, row in
      text + "  " + row.0 + String(repeating: " ", count: 13 - row.0.count) + row.1.printable + "\n"
    }
  }

  private static func json(_ result: RewriteResult) -> String {
    var line = JSONLine()
    let direct = result.outcome.direct
    let outcome: String
    var url = direct?.url.href
    var fields = direct?.request.headerFields
    switch result.outcome {
    case .direct: outcome = "rewritten"
    case .bypassed(let request, _):
      outcome = "bypassed"
      url = result.url
      fields = request.headerFields
    case .refused: outcome = "refused"
    }
    line.add("outcome", JSONLine.string(outcome))
    line.add("reason", result.code.map { JSONLine.string("\($0): \(result.reason ?? "")") })
    line.add("form", direct.map { JSONLine.string($0.form.rawValue) })
    line.add("url", url.map(JSONLine.string))
    line.add("host", direct.map { JSONLine.string($0.host) })
    line.add("originalUrl", direct.map { JSONLine.string($0.originalURLField) })
    line.add("headers", fields.map(JSONLine.fields))
    line.add("serverName", direct?.serverName.map { JSONLine.string($0.text) })
    line.add("port", direct.map { "\($0.port)" })
    line.add("address", direct.map { JSONLine.string($0.address.description) })
    line.add("addresses", direct.map { JSONLine.array($0.addresses.map { JSONLine.string($0.description) }) })
    return line.text
  }
}
