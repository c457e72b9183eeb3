// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import HTTPTypes

/// A case of curl's own tests, performed by the client: `fetch`, with the case on standard input.
///
/// The lab's environment names a folder (`LOGDIR`) and its server's certificate (`CA`).
struct Fetch {
  /// What the lab takes for "an option of the case is not offered".
  static let notOffered: Int32 = 77
  /// What curl ends with after too many redirects.
  static let tooManyRedirects: Int32 = 47

  private let input: JSONObject
  private let options: JSONObject
  private let folder: String

  static func run() async throws {
    let data = FileHandle.standardInput.readDataToEndOfFile()
    let question = try JSONSerialization.jsonObject(with: data) as? JSONObject
    let fetch = Fetch(question?["input"] as? JSONObject ?? [:])
    guard fetch.isOffered else { exit(notOffered) }
    exit(try await fetch.perform())
  }

  private init(_ input: JSONObject) {
    self.input = input
    options = input["options"] as? JSONObject ?? [:]
    folder = ProcessInfo.processInfo.environment["LOGDIR"] ?? "."
  }

  private static let offered: Set<String> = [
    "follow", "follow_custom", "max_redirs", "cookie", "jar", "header", "data", "method", "user", "bearer", "head",
    "agent", "post301", "post302", "resolve", "referer", "upload",
  ]

  private var isOffered: Bool {
    // With `;auto` curl names the URL that it comes from; here a `Referer` is the caller's.
    Set(options.keys).isSubset(of: Self.offered) && !cookieFiles.contains(where: isHead)
      && (options["referer"] as? String)?.hasSuffix(";auto") != true
  }

  private var cookieFiles: [String] { texts("cookie").filter { !$0.contains("=") } }

  private func perform() async throws -> Int32 {
    let (jar, cookie) = try cookies()
    let client = try client(jar)
    var status: Int32 = 0
    for text in input["urls"] as? [String] ?? [] {
      let url = try WebURL(text)
      let (request, body) = try request(url, cookie: cookie)
      do {
        _ = try await client.execute(request, body: body).body.collect(upTo: 1 << 24)
      } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        status = error.code == .tooManyRedirects ? Self.tooManyRedirects : 1
      }
    }
    if let jar, let file = options["jar"] as? String { try jar.save(to: NetscapeCookieFile(path: path(file))) }
    await client.shutdown()
    return status
  }

  private func client(_ jar: CookieJar?) throws -> DirectClient {
    var names = ResolverConfiguration()
    names.usesSystemDNS = true
    for (name, address) in input["hosts"] as? [String: String] ?? [:] {
      names.localZones.pins[try HostName(name)] = [address].compactMap(IPAddress.init)
    }
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    configuration.cookies = jar
    configuration.trust = TrustStore(
      privateAuthorities: ProcessInfo.processInfo.environment["CA"].map { [$0] } ?? [], environment: [:])
    configuration.timeouts = RequestTimeouts(connect: .seconds(3), firstByte: .seconds(5), total: .seconds(15))
    var redirects = RedirectConfiguration()
    // Less than 0 is no limit to curl.
    if let limit = (options["max_redirs"] as? String).flatMap({ Int($0) }) {
      redirects.limit = limit < 0 ? .max : limit
    }
    // The client has one switch for both statuses, as no server means them differently.
    if options["post301"] != nil || options["post302"] != nil { redirects.postRedirect = .keep }
    configuration.redirects = options["follow"] == nil && options["follow_custom"] == nil ? nil : redirects
    return try DirectClient(configuration, resolver: DirectResolver(names))
  }

  private func request(_ url: WebURL, cookie: String?) throws -> (HTTPRequest, RequestBody) {
    var fields = HTTPFields()
    for line in texts("header") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
        throw MissingField(name: "a header in \(line)")
      }
      fields.append(HTTPField(name: name, value: parts[1].trimmingCharacters(in: .whitespaces)))
    }
    if let cookie { fields[.cookie] = cookie }
    if let agent = options["agent"] as? String { fields[.userAgent] = agent }
    if let referer = options["referer"] as? String { fields[.referer] = referer }
    if let token = options["bearer"] as? String { fields[.authorization] = "Bearer \(token)" }
    if let pair = options["user"] as? String {
      fields[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
    }
    var method = HTTPRequest.Method.get
    var body = RequestBody.none
    if options["head"] != nil { method = .head }
    if options["data"] != nil {
      method = .post
      body = .text(texts("data").joined(separator: "&"))
      if fields[.contentType] == nil { fields[.contentType] = "application/x-www-form-urlencoded" }
    }
    if let file = options["upload"] as? String {
      method = .put
      body = try .file(path(file))
    }
    if let custom = (options["method"] as? String).flatMap({ HTTPRequest.Method($0) }) { method = custom }
    return (HTTPRequest(method: method, url: url, headerFields: fields), body)
  }

  // MARK: Cookies

  /// A jar where the case has one, and the cookies that stand in the case itself.
  private func cookies() throws -> (CookieJar?, String?) {
    let inline = texts("cookie").filter { $0.contains("=") }
    let cookie = inline.isEmpty ? nil : inline.joined(separator: "; ")
    guard !cookieFiles.isEmpty || options["jar"] != nil else { return (nil, cookie) }
    // The cases are curl's, and so is the order that they expect; `dnsctl fetch` does the same.
    let jar = CookieJar(CookieJarConfiguration(order: .curl))
    // curl takes a file that is not there for an empty one.
    for file in cookieFiles where FileManager.default.fileExists(atPath: path(file)) {
      try jar.load(NetscapeCookieFile(path: path(file)))
    }
    return (jar, cookie)
  }

  /// Whether a cookie file is the head of a response, which curl reads too.
  private func isHead(_ file: String) -> Bool {
    let bytes = FileManager.default.contents(atPath: path(file)) ?? Data()
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).contains {
      $0.lowercased().hasPrefix("set-cookie:")
    }
  }

  // MARK: Reading

  private func texts(_ key: String) -> [String] { options[key] as? [String] ?? [] }

  private func path(_ text: String) -> String { text.replacingOccurrences(of: "%LOGDIR", with: folder) }
}
