internal import ArgumentParser
internal import DirectDNS
internal import HTTPTypes

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One URL of `dnsctl fetch`, and all that is to be done with it.
struct FetchJob: Sendable {
  /// Its place on the command line.
  let index: Int
  let url: WebURL
  let request: HTTPRequest
  let body: Body
  let destination: Destination

  enum Body: Sendable, Hashable {
    case none
    case bytes([UInt8])
    case file(String)
    case standardInput

    /// What `-T` has for a URL.
    fileprivate init(uploads: [String], _ index: Int) {
      guard index < uploads.count else {
        self = .none
        return
      }
      self = uploads[index] == Pipeline.inputMark ? .standardInput : .file(uploads[index])
    }
  }

  /// Makes the jobs of a command line.
  static func all(
    _ texts: [String], _ request: RequestFlags, _ output: OutputFlags, cookie: String?, in context: CommandContext
  ) async throws(SettingsError) -> [FetchJob] {
    let data = try await request.formData(in: context)
    try check(request, output, hasData: data != nil, urls: texts.count)
    let flags = try HeaderFlag.read(request.headers, readFile: context.readFile)
    if let host = HTTPField.Name("Host"), flags.contains(.leaveOut(host)) {
      throw SettingsError(
        .usage, "-H Host: a request needs the field (RFC 9112 §3.2). Give it a value, or leave -H out.")
    }
    var urls: [WebURL] = []
    for (index, text) in texts.enumerated() {
      urls.append(try url(text, upload: index < request.uploads.count ? request.uploads[index] : nil))
    }
    let destinations = try output.destinations(urls)
    let credentials = try request.credentials(context.readFile)
    return urls.enumerated().map { index, url in
      let body = data.map { Body.bytes($0.bytes) } ?? Body(uploads: request.uploads, index)
      var fields: HTTPFields = [.userAgent: userAgent, .accept: "*/*"]
      if let cookie { fields[.cookie] = cookie }
      if let credentials { fields[.authorization] = credentials }
      for field in data?.fields ?? [:] { fields[field.name] = field.value }
      return FetchJob(
        index: index, url: url,
        request: HTTPRequest(
          method: request.method ?? method(body, asksForHead: request.asksForHead), url: url,
          headerFields: fields.applying(flags)),
        body: body, destination: destinations[index])
    }
  }

  /// Options that contradict one another.
  private static func check(
    _ request: RequestFlags, _ output: OutputFlags, hasData: Bool, urls: Int
  ) throws(SettingsError) {
    guard !hasData || request.uploads.isEmpty else {
      throw SettingsError(.usage, "-d and -T do not go together: a request has one body.")
    }
    guard !request.asksForHead || (!hasData && request.uploads.isEmpty) else {
      throw SettingsError(.usage, "-I goes with neither -d nor -T: a request for the head has no body.")
    }
    guard !output.resumes || !(request.asksForHead || request.asksForCompression) else {
      let other = request.asksForHead ? "-I" : "--compressed"
      throw SettingsError(.usage, "-C and \(other) do not go together: bytes of the file itself are needed.")
    }
    guard request.uploads.count <= urls else { throw SettingsError(.usage, "There are more -T than URLs.") }
    guard request.uploads.count(where: { $0 == Pipeline.inputMark }) <= 1 else {
      throw SettingsError(.usage, "Standard input can be sent once: give -T - once.")
    }
  }

  private static let userAgent = "dnsctl/\(Dnsctl.configuration.version)"

  private static func method(_ body: Body, asksForHead: Bool) -> HTTPRequest.Method {
    switch body {
    case .none: asksForHead ? .head : .get
    case .bytes: .post
    case .file, .standardInput: .put
    }
  }

  /// A URL as people write it: without a scheme it is http, as for curl; where a file is put into a folder, it gets the
  /// file's name.
  static func url(_ text: String, upload: String?) throws(SettingsError) -> WebURL {
    let scheme = WebURL.schemeName(of: text)
    // `localhost:8080` only looks as if it had one.
    let isWhole =
      scheme == "http" || scheme == "https" || scheme.map { text.dropFirst($0.count).hasPrefix("://") } ?? false
    do throws(DirectDNSError) {
      let url = try WebURL(isWhole ? text : "http://\(text)")
      guard url.scheme == .http || url.scheme == .https else {
        throw DirectDNSError(.invalidURL, "\(url.scheme.rawValue) cannot be fetched: http and https can")
      }
      guard let upload, upload != Pipeline.inputMark, url.path.hasSuffix("/") else { return url }
      let name = upload.split(separator: "/").last.map(String.init) ?? ""
      return try WebURL(escaped(name), base: url)
    } catch {
      throw SettingsError(ExitStatus(error), "\(error.message).")
    }
  }

  /// A file's name as a part of a path.
  private static func escaped(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF")
    // The dot and slash keep a name with a colon from being taken for a scheme.
    return "./"
      + name.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "~"):
          String(UnicodeScalar(byte))
        default: "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
      }.joined()
  }
}

extension RequestFlags {
  /// `-u` as the value of `Authorization` (RFC 7617).
  fileprivate func credentials(
    _ readFile: (String) throws(StreamError) -> [UInt8]?
  ) throws(SettingsError) -> String? {
    guard let text = user else { return nil }
    let user = try InputFile.secret(text, for: "-u", by: readFile)
    guard user.utf8.contains(UInt8(ascii: ":")) else {
      throw SettingsError(.usage, "-u: write USER:PASSWORD; there is nobody to ask for the password.")
    }
    return "Basic " + Data(user.utf8).base64EncodedString()
  }
}

extension FetchJob {
  /// Whether the body can be sent a second time.
  var isReplayable: Bool { body != .standardInput }

  /// The body as the client takes it.
  func requestBody(_ input: any InputSource) throws(DirectDNSError) -> RequestBody {
    switch body {
    case .none: .none
    case .bytes(let bytes): .bytes(bytes)
    case .file(let path): try .file(path)
    case .standardInput: .stream(InputPieces(input: input))
    }
  }
}

/// Standard input as a body: what comes is sent.
struct InputPieces: AsyncSequence, Sendable {
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
