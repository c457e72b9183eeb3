// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// curl's variables for `-w` that have a meaning here.
enum WriteOutVariable: String, CaseIterable, Sendable {
  case contentType = "content_type"
  case errorMessage = "errormsg"
  case exitCode = "exitcode"
  case fileName = "filename_effective"
  case httpCode = "http_code"
  case httpVersion = "http_version"
  case method
  case connects = "num_connects"
  case headers = "num_headers"
  case redirects = "num_redirects"
  case redirectURL = "redirect_url"
  case remoteIP = "remote_ip"
  case remotePort = "remote_port"
  case responseCode = "response_code"
  case scheme
  case downloadSize = "size_download"
  case headerSize = "size_header"
  case uploadSize = "size_upload"
  case downloadSpeed = "speed_download"
  case uploadSpeed = "speed_upload"
  case appConnectTime = "time_appconnect"
  case connectTime = "time_connect"
  case lookupTime = "time_namelookup"
  case pretransferTime = "time_pretransfer"
  case redirectTime = "time_redirect"
  case startTime = "time_starttransfer"
  case totalTime = "time_total"
  case url
  case effectiveURL = "url_effective"
  case urlNumber = "urlnum"

  enum Value: Sendable, Hashable {
    /// nil: there is none.
    case text(String?)
    case number(Int64)
    /// An HTTP status: three digits, `000` without a response.
    case code(Int)
    case seconds(Duration)

    var text: String {
      switch self {
      case .text(let text): text ?? ""
      case .number(let number): "\(number)"
      case .code(let code): String("\(1000 + code)".dropFirst())
      case .seconds(let duration): Self.decimals(duration)
      }
    }

    var json: String {
      switch self {
      case .text(let text): text.map(JSONLine.string) ?? "null"
      case .number(let number): "\(number)"
      case .code(let code): "\(code)"
      case .seconds(let duration): Self.decimals(duration)
      }
    }

    /// Seconds with six decimals, as in curl.
    private static func decimals(_ duration: Duration) -> String {
      let microseconds = max(0, duration.wholeNanoseconds / 1000)
      return "\(microseconds / 1_000_000).\("\(1_000_000 + microseconds % 1_000_000)".dropFirst())"
    }
  }

  func value(of report: TransferReport) -> Value {
    let facts = report.now
    let response = facts.response
    let times = facts.times.phases
    return switch self {
    case .contentType: .text(facts.contentType?.value)
    case .errorMessage: .text(facts.message.map(Self.line))
    case .exitCode: .number(Int64(facts.status.rawValue))
    case .fileName: .text(report.job.destination.path)
    case .httpCode, .responseCode: .code(facts.head?.status.code ?? 0)
    case .httpVersion: .text(facts.heads.last.map { Self.version($0.connection) } ?? "0")
    case .method: .text(facts.method.rawValue)
    case .connects: .number(Int64(facts.connects))
    case .headers: .number(Int64(facts.head?.headerFields.count ?? 0))
    case .redirects: .number(Int64(facts.redirects))
    case .redirectURL: .text(Self.redirect(facts, from: response?.url ?? facts.location ?? report.job.url))
    case .remoteIP: .text(facts.remote?.address.description)
    case .remotePort: .number(Int64(facts.remote?.port ?? 0))
    case .scheme: .text((response?.url ?? facts.location ?? report.job.url).scheme.rawValue)
    case .downloadSize: .number(facts.received)
    case .headerSize: .number(facts.headSize)
    case .uploadSize: .number(facts.sent)
    case .downloadSpeed: .number(Self.rate(facts.received, facts.elapsed))
    case .uploadSpeed: .number(Self.rate(facts.sent, facts.elapsed))
    case .appConnectTime: .seconds(times.appConnect)
    case .connectTime: .seconds(times.connect)
    case .lookupTime: .seconds(times.lookup)
    case .pretransferTime: .seconds(times.pretransfer)
    case .redirectTime: .seconds(facts.times.redirect)
    case .startTime: .seconds(times.start)
    case .totalTime: .seconds(facts.elapsed)
    case .url: .text(report.job.text)
    case .effectiveURL: .text("\(response?.url ?? facts.location ?? report.job.url)")
    case .urlNumber: .number(Int64(report.job.index))
    }
  }

  /// A message has a line for each server that was tried, behind its sentences; here they become one line.
  static func line(_ message: String) -> String {
    message.split(separator: "\n").reduce(into: "") { line, next in
      if !line.isEmpty { line += line.hasSuffix(".") ? " " : "; " }
      line += String(next[...].trimmed)
    }
  }

  /// curl writes HTTP/1.0 as 1.
  private static func version(_ connection: ConnectionDetails) -> String {
    connection.httpVersion == .http1_0 ? "1" : connection.httpVersion.description
  }

  /// Where a redirect would have led: also one that was refused, such as the first of too many.
  ///
  /// As for following it, a blank `Location` leads nowhere, and neither do different ones.
  private static func redirect(_ facts: TransferReport.Facts, from url: WebURL) -> String? {
    guard !facts.isFollowed, let head = facts.head, (300..<400).contains(head.status.code) else { return nil }
    let locations = Set(head.headerFields[values: .location].filter { !$0.isBlankReference })
    guard locations.count == 1, let location = locations.first else { return nil }
    // Of another scheme than the four of `WebURL`: it is a URL by itself, and is told as it came.
    if let scheme = WebURL.schemeName(of: location), WebURL.Scheme(rawValue: scheme) == nil { return location }
    return (try? WebURL(location, base: url))?.description
  }

  private static func rate(_ bytes: Int64, _ duration: Duration) -> Int64 {
    let microseconds = max(1, duration.wholeNanoseconds / 1000)
    return Int64(exactly: (Double(bytes) * 1_000_000 / Double(microseconds)).rounded(.down)) ?? 0
  }
}
