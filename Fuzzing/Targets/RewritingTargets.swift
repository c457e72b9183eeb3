// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

@testable import DirectDNS
@testable import DnsctlCommands

extension FuzzTarget {
  /// Requests on their way to an address, and responses on their way back.
  static let rewriting = [
    FuzzTarget("response-head", responseHead),
    FuzzTarget("rewrite", rewrite),
    FuzzTarget("rewrite-line", rewriteLine),
    FuzzTarget("restore-line", restoreLine),
    FuzzTarget("shell-word", shellWord),
  ]

  // Any public addresses.
  private static let addresses: [IPAddress] = [.ipv4(0x0808_0808), .ipv6(high: 0x2001_4860_4860_0000, low: 0x8888)]
  private static let restorer = ResponseRestorer(
    originalURL: WebURL(constant: "https://www.example.com:8443/a/b?c#d"), addresses: addresses)

  /// A head as libcurl hands it over: its fields can be sent on, and no address is left where it hid the name.
  private static func responseHead(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let head = ResponseHead(bytes.headLines) else { return }
    let read = head.response
    try checkFields(read.headerFields)
    let restored = restorer.restore(read)
    try checkFields(restored.headerFields)
    try require(restorer.restore(restored) == restored, "restored twice a response is another one")
    if !head.hasRestorableField { try require(restored == read, "a field is restored that none was found in") }
    try checkRestored(restored, restorer)
  }

  private static func checkFields(_ fields: HTTPFields) throws(BrokenRule) {
    for field in fields {
      try require(HTTPField.isValidValue(field.value), "a field that cannot be sent: \(field.name)")
    }
  }

  private static func checkRestored(_ response: HTTPResponse, _ restorer: ResponseRestorer) throws(BrokenRule) {
    // Of a URL without a name there is nothing to put back.
    if case .address = restorer.originalURL.host { return }
    for field in response.headerFields where [.location, .contentLocation].contains(field.name) {
      guard !field.value.isBlankReference, let url = try? WebURL(field.value, base: restorer.originalURL),
        case .address(let address) = url.host
      else { continue }
      try require(!restorer.addresses.contains(address), "\(field.name) leads to the address: \(field.value)")
    }
    for field in response.headerFields where field.name == .setCookie {
      // What a jar refuses stays as it came.
      guard
        let cookie = try? Cookie(setCookie: field.value, for: restorer.originalURL, now: .init(secondsSince1970: 0)),
        case .address(let address) = cookie.domain, restorer.originalURL.host != .address(address)
      else { continue }
      try require(!restorer.addresses.contains(address), "a cookie of the address: \(field.value.debugDescription)")
    }
  }

  /// A request (its URL, and field lines behind it) rewritten, and its own URL restored.
  private static func rewrite(_ bytes: [UInt8]) throws(BrokenRule) {
    let (first, rest) = bytes.firstLineAndRest
    guard let url = try? WebURL(first.asText) else { return }
    let request = HTTPRequest(url: url, headerFields: FieldReader.fields(rest))
    for form in DirectRequest.Form.allCases { try check(request, url, form) }
  }

  private static func check(
    _ request: HTTPRequest, _ url: WebURL, _ form: DirectRequest.Form
  ) throws(BrokenRule) {
    let rewriter = RequestRewriter(form: form)
    switch rewriter.rewrite(request, using: addresses) {
    case .refused(let error):
      try require(
        error.message.printable == error.message, "an error cannot be shown: \(error.message.debugDescription)")
    case .bypassed(let request, let reason):
      let isLiteral = if case .address = url.host { true } else { false }
      try require(isLiteral, "\(url.host) is bypassed: \(reason)")
      if reason == .addressLiteral {
        try require(request.headerFields[.originalURL] == nil, "a foreign originalUrl stays")
      }
    case .direct(let direct):
      let fields = direct.request.headerFields
      try require(fields[values: .hostField].count <= 1, "two Host fields")
      try require(fields[values: .proxyAuthorization].isEmpty, "the proxy's credentials go to the origin")
      try require(!direct.url.hasUserInfo && direct.url.fragment == nil, "\(direct.url) is sent")
      if form == .literal {
        try require(direct.url.host == .address(direct.address), "\(direct.url) does not lead to \(direct.address)")
        try require(fields[.originalURL] == direct.originalURLField, "originalUrl says something else")
      }
      try checkAgain(direct, rewriter)
      let restorer = ResponseRestorer(for: direct)
      let response = HTTPResponse(status: .ok, headerFields: [.contentLocation: direct.url.href])
      let own = restorer.restore(response).headerFields[.contentLocation]
      try require(own == url.text(userInfo: false, fragment: false), "the name does not come back: \(own ?? "")")
    }
  }

  /// Rewritten twice a request is what it was rewritten once.
  private static func checkAgain(_ direct: DirectRequest, _ rewriter: RequestRewriter) throws(BrokenRule) {
    switch rewriter.rewrite(direct.request, using: addresses) {
    case .bypassed(let again, .alreadyRewritten):
      try require(again == direct.request, "rewritten twice a request changes")
    case .direct(let again) where direct.form == .pinned:
      try require(again.request == direct.request, "rewritten twice a request changes")
    case let outcome: throw BrokenRule(description: "rewritten twice: \(outcome)")
    }
  }

  /// A line for `dnsctl rewrite`: what is written of it is JSON of one line, and nothing acts on a terminal.
  private static func rewriteLine(_ bytes: [UInt8]) throws(BrokenRule) {
    let line = bytes.asText
    let input: RewriteInput
    switch Result(catching: { () throws(DirectDNSError) in try RewriteInput(line: line, address: nil) }) {
    case .success(let read): input = read
    case .failure(let error): return try checkLine(RestoredLine(error).text)
    }
    for form in DirectRequest.Form.allCases {
      let rewriter = RequestRewriter(form: form)
      let outcome = rewriter.rewrite(input.request, using: [input.address].compactMap { $0 } + addresses)
      let result = RewriteResult(text: input.text, outcome: outcome, lookupError: nil)
      try checkLine(RewriteFormat.json.render(result).output)
      for format in [RewriteFormat.text, .curl] {
        let rendered = format.render(result)
        for text in [format == .text ? rendered.output : "", rendered.errors] {
          let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
          try require(lines.allSatisfy { $0.printable == $0 }, "a line cannot be shown: \(text.debugDescription)")
        }
      }
      guard let direct = outcome.direct else { continue }
      var back = JSONLine()
      back.add("originalUrl", JSONLine.string(direct.originalURLField))
      back.add("address", JSONLine.array(direct.answer.map { JSONLine.string($0.description) }))
      back.add("headers", JSONLine.fields([.location: direct.url.href]))
      guard let restored = try? RestoreInput(line: back.text) else {
        throw BrokenRule(description: "what rewrite writes restore does not read: \(back.text)")
      }
      try checkRestored(restored.restorer.restore(restored.response), restored.restorer)
    }
  }

  private static func restoreLine(_ bytes: [UInt8]) throws(BrokenRule) {
    let line = bytes.asText
    switch Result(catching: { () throws(DirectDNSError) in try RestoreInput(line: line) }) {
    case .success(let input):
      try checkLine(RestoredLine(input, now: CookieTime(secondsSince1970: 1_700_000_000)).text)
      try checkRestored(input.restorer.restore(input.response), input.restorer)
    case .failure(let error): try checkLine(RestoredLine(error).text)
    }
  }

  private static func checkLine(_ line: String) throws(BrokenRule) {
    try require(JSONValue(Array(line.utf8))?.isObject == true, "no JSON is written: \(line.debugDescription)")
    try require(line.utf8.dropLast().allSatisfy { $0 >= 0x20 } && line.hasSuffix("\n"), "not one line")
  }

  /// A word as a shell reads it (XCU 2.2): ShellWordTests ask a real one.
  private static func shellWord(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let word = ShellWord(bytes) else { return try require(bytes.contains(0), "a word is refused") }
    var read: [UInt8] = []
    var isQuoted = false
    var rest = word.quoted[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "'"): isQuoted.toggle()
      case UInt8(ascii: "\\") where !isQuoted: if let next = rest.popFirst() { read.append(next) }
      case _ where isQuoted: read.append(byte)
      default:
        try require(
          !" \t\n\"$`&|;<>()*?[#~!{}".utf8.contains(byte) && byte < 0x80, "\(byte) means something to a shell")
        read.append(byte)
      }
    }
    try require(!isQuoted && read == bytes && !word.quoted.isEmpty, "a shell reads another word")
  }
}

extension [UInt8] {
  /// Line by line, as libcurl hands a head over.
  fileprivate var headLines: HeadLines {
    var lines = HeadLines()
    var rest = self[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
      lines.append(rest[..<end])
      rest = rest[end...]
    }
    return lines
  }
}
