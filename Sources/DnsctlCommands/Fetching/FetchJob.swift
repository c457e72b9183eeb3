// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import HTTPTypes

/// One URL of `dnsctl fetch`, and what to do with it.
struct FetchJob: Sendable {
  /// Its place on the command line.
  let index: Int
  /// The URL as it was given.
  let text: String
  let url: WebURL
  let request: HTTPRequest
  let body: Body
  let destination: Destination
  /// Whether only the head is wanted, whatever the method.
  let wantsHeadAlone: Bool

  enum Body: Sendable, Hashable {
    case none
    case bytes([UInt8])
    case file(String)
    /// A FIFO or a device, whose bytes come at any time, and only once.
    case pipe(String)
    case standardInput

    /// The upload of `-T` for a URL.
    fileprivate init(uploads: [String], _ index: Int) {
      guard index < uploads.count else {
        self = .none
        return
      }
      let path = uploads[index]
      self = path == Pipeline.inputMark ? .standardInput : isPipe(path) ? .pipe(path) : .file(path)
    }
  }

  /// Makes the jobs of a command line.
  static func all(
    _ texts: [String], _ request: RequestFlags, _ output: OutputFlags, cookie: String?, in context: CommandContext
  ) throws(CommandError) -> [FetchJob] {
    let data = try request.formData(in: context)
    // With -G it becomes a part of the URL: encoded, so that a `#` in it does not end the query.
    let query = request.putsDataInURL ? data.map { PercentEncoding.encoded($0.bytes.span, .query) } : nil
    let sent = request.putsDataInURL ? nil : data
    try check(request, output, hasData: sent != nil, urls: texts.count)
    let flags = try HeaderFlag.read(request.headers, readFile: context.readFile)
    if let host = HTTPField.Name("Host"), flags.contains(.leaveOut(host)) {
      throw CommandError(
        .usage, "-H Host: a request needs the field (RFC 9112 §3.2). Give it a value, or leave -H out.")
    }
    if request.asksForCompression, flags.contains(.leaveOut(.acceptEncoding)) {
      throw CommandError(
        .usage, "-H Accept-Encoding: --compressed asks by it for what it decodes. Leave one of the two out.")
    }
    // The parts have one of ours between them: with another in the field, no server could tell them apart.
    if sent?.boundary != nil, flags.contains(where: \.namesBoundary) {
      throw CommandError(
        .usage, "-H Content-Type: -F makes a boundary of its own and adds it. Leave the boundary out of Content-Type.")
    }
    var urls: [WebURL] = []
    for (index, text) in texts.enumerated() {
      do throws(CommandError) {
        urls.append(try url(text, upload: index < request.uploads.count ? request.uploads[index] : nil, query: query))
      } catch {
        guard texts.count > 1 else { throw error }
        // Named by its number, since the text may contain a password.
        throw CommandError(error.status, "URL \(index + 1) of \(texts.count): \(error.message)")
      }
    }
    let range = try request.rangeValue(resumes: output.resumes)
    let destinations = try output.destinations(urls)
    let credentials = try request.credentials(context.readFile)
    // What the URL has for `Authorization` is left out with it.
    let isAnonymous = flags.contains(.leaveOut(.authorization))
    return urls.enumerated().map { index, url in
      let url = isAnonymous ? (try? WebURL(url.text(userInfo: false))) ?? url : url
      let body = sent.map { Body.bytes($0.bytes) } ?? Body(uploads: request.uploads, index)
      var fields: HTTPFields = [.userAgent: request.userAgent ?? userAgent, .accept: "*/*"]
      if request.userAgent == "" { fields[.userAgent] = nil }
      if let range { fields[.range] = range }
      if let cookie { fields[.cookie] = cookie }
      if let credentials { fields[.authorization] = credentials }
      // A query has no content type; that of JSON is sent anyway, as in curl.
      if query == nil || !request.jsonData.isEmpty {
        for field in data?.fields ?? [:] { fields[field.name] = field.value }
      }
      return FetchJob(
        index: index, text: texts[index], url: url,
        request: HTTPRequest(
          method: request.method ?? method(body, asksForHead: request.asksForHead), url: url,
          headerFields: fields.applying(flags).naming(sent?.boundary)),
        body: body, destination: destinations[index], wantsHeadAlone: request.asksForHead)
    }
  }

  /// Refuses options that contradict each other.
  private static func check(
    _ request: RequestFlags, _ output: OutputFlags, hasData: Bool, urls: Int
  ) throws(CommandError) {
    for name in output.outputs { try InputFile.check(name, of: "-o") }
    for name in request.uploads { try InputFile.check(name, of: "-T") }
    if let name = output.headPath { try InputFile.check(name, of: "-D") }
    if let name = request.jarPath { try InputFile.check(name, of: "-c") }
    guard !output.failsOnStatus || !output.failsWithBody else {
      throw CommandError(
        .usage, "-f and --fail-with-body do not go together: the one keeps the body back, the other writes it.")
    }
    guard !output.resumes || !output.failsWithBody else {
      throw CommandError(
        .usage, "-C and --fail-with-body do not go together: a failure's body would be continued. Give -f.")
    }
    guard !hasData || request.uploads.isEmpty else {
      throw CommandError(
        .usage, "\(request.bodyOption) and -T do not go together: a request has one body.")
    }
    guard !request.putsDataInURL || request.uploads.isEmpty else {
      throw CommandError(.usage, "-G and -T do not go together: the one is a GET, the other a PUT.")
    }
    if let jar = request.jarPath, jar != Pipeline.inputMark, jar != "/dev/null" {
      let place = OutputFlags.plain(jar)
      guard output.headPath.map(OutputFlags.plain) != place else {
        throw CommandError(
          .usage, "-D and -c name one file, \(jar.printable): the cookies would be written over the heads.")
      }
      guard !output.outputs.map(OutputFlags.plain).contains(place) else {
        throw CommandError(
          .usage, "-o and -c name one file, \(jar.printable): the cookies would be written over the body.")
      }
    }
    guard !request.asksForHead || (!hasData && request.uploads.isEmpty) else {
      throw CommandError(
        .usage, "-I goes with neither \(request.bodyOption) nor -T: a request for the head has no body.")
    }
    guard !output.resumes || !(request.asksForHead || request.asksForCompression) else {
      let other = request.asksForHead ? "-I" : "--compressed"
      throw CommandError(.usage, "-C and \(other) do not go together: bytes of the file itself are needed.")
    }
    guard request.uploads.count <= urls else { throw CommandError(.usage, "there are more -T than URLs.") }
  }

  private static let userAgent = "dnsctl/\(Dnsctl.configuration.version)"

  private static func method(_ body: Body, asksForHead: Bool) -> HTTPRequest.Method {
    switch body {
    case .none: asksForHead ? .head : .get
    case .bytes: .post
    case .file, .pipe, .standardInput: .put
    }
  }

  /// A URL as people write it: without a scheme it is http, as in curl; a file that is uploaded to a folder's URL adds
  /// its name.
  ///
  /// - Parameters:
  ///   - text: what was given.
  ///   - upload: the file that is uploaded there.
  ///   - query: what -G adds to the query.
  /// - Returns: the URL.
  /// - Throws: if it is not a URL.
  static func url(_ text: String, upload: String?, query: String? = nil) throws(CommandError) -> WebURL {
    let scheme = WebURL.schemeName(of: text)
    // `localhost:8080` only looks as if it had a scheme.
    let isWhole =
      scheme == "http" || scheme == "https" || scheme.map { text.dropFirst($0.count).hasPrefix("://") } ?? false
    do throws(DirectDNSError) {
      // Of the schemes that the library knows, two cannot be fetched.
      if isWhole, let scheme, scheme != "http", scheme != "https" {
        throw DirectDNSError(.invalidURL, "\(scheme) cannot be fetched: http and https can.")
      }
      var url = try WebURL(isWhole ? text : "http://\(text)")
      // As in curl, an empty one adds nothing but the sign behind a query that is there.
      if let query, !query.isEmpty || url.query?.isEmpty == false { url = try WebURL(appended(query, to: "\(url)")) }
      guard let upload, upload != Pipeline.inputMark, url.path.hasSuffix("/") else { return url }
      let name = upload.split(separator: "/").last.map(String.init) ?? ""
      // `./` keeps a name with a colon from being taken for a scheme.
      let target = try WebURL("./" + PercentEncoding.encoded(name, .reserved), base: url)
      return try url.query.map { query throws(DirectDNSError) in try WebURL("\(target)?\(query)") } ?? target
    } catch {
      throw CommandError(ExitStatus(error), DirectDNSError.sentence(error.message))
    }
  }

  /// A URL with more query, and without its fragment, which would come before that.
  private static func appended(_ query: String, to url: String) -> String {
    let text = url.prefix { $0 != "#" }
    guard let mark = text.firstIndex(of: "?") else { return "\(text)?\(query)" }
    let isJoined = text.index(after: mark) == text.endIndex || text.hasSuffix("&")
    return "\(text)\(isJoined ? "" : "&")\(query)"
  }
}

extension RequestFlags {
  /// The option that gives the body, for errors.
  fileprivate var bodyOption: String { formParts.isEmpty && formTexts.isEmpty ? "-d" : "-F" }

  /// `-r` as the value of `Range`.
  fileprivate func rangeValue(resumes: Bool) throws(CommandError) -> String? {
    guard let range else { return nil }
    guard !resumes else {
      throw CommandError(.usage, "-r and -C do not go together: -C asks for the range that is missing.")
    }
    let isRange = range.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "-,".utf8.contains($0)
    }
    guard isRange, range.contains(where: \.isNumber) else {
      throw CommandError(
        .usage, "-r: \"\(range.printable)\" is not a range. Write 0-499, 500-, -500, or several with commas.")
    }
    // A single number is the start, as in curl.
    return "bytes=\(range.contains("-") ? range : range + "-")"
  }

  /// `-u` as the value of `Authorization` (RFC 7617).
  fileprivate func credentials(
    _ readFile: (String) throws(StreamError) -> [UInt8]?
  ) throws(CommandError) -> String? {
    guard let text = user else { return nil }
    let user = try InputFile.secret(text, for: "-u", by: readFile)
    guard user.utf8.contains(UInt8(ascii: ":")) else {
      throw CommandError(.usage, "-u: write USER:PASSWORD; dnsctl does not ask for a password.")
    }
    return "Basic " + Base64.encoded(Array(user.utf8))
  }
}

extension FetchJob {
  /// Whether the body can be sent a second time.
  var isReplayable: Bool {
    switch body {
    case .none, .bytes, .file: true
    case .pipe, .standardInput: false
    }
  }

  /// The body for the client.
  ///
  /// - Parameter input: standard input.
  /// - Returns: the body.
  /// - Throws: if a file cannot be read.
  func requestBody(_ input: any InputSource) throws(DirectDNSError) -> RequestBody {
    let whole: RequestBody =
      switch body {
      case .none: .none
      case .bytes(let bytes): .bytes(bytes)
      case .file(let path): try .file(path)
      case .pipe(let path): .stream(InputPieces(input: PipeInput(path)))
      case .standardInput: .stream(InputPieces(input: input))
      }
    // `-H 'Transfer-Encoding: chunked'` asks for chunks, as in curl.
    return request.headerFields[.transferEncoding]?.lowercased() == "chunked" ? whole.chunked : whole
  }
}

/// Standard input, a FIFO or a device as a body: its bytes are sent as they come.
private struct InputPieces: AsyncSequence, Sendable {
  let input: any InputSource

  struct AsyncIterator: AsyncIteratorProtocol {
    let input: any InputSource

    mutating func next() async throws -> [UInt8]? {
      let piece = try await input.read()
      return piece.isEmpty ? nil : piece
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(input: input) }
}
