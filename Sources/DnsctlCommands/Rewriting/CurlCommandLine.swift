// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// The command line of curl that does the same.
///
/// All of its URLs are canonical, so that curl reads the host that was judged.
struct CurlCommandLine {
  /// The command line, quoted for a shell, without a line break.
  let text: String

  /// A request that goes to an address: the URL keeps the name, which curl then verifies.
  init(_ direct: DirectRequest) throws(DirectDNSError) {
    let url = direct.originalURL
    let address = WebURL.Host.address(direct.address)
    var fields = direct.request.headerFields
    fields[.originalURL] = nil
    // What rewriting added, curl adds by itself.
    if fields[.hostField] == url.hostAndPort { fields[.hostField] = nil }
    // A proxy would have to tunnel to the address, and would be asked to by curl.
    text = try Self.text(
      ["--noproxy", "*", "--connect-to", "\(url.host):\(direct.port):\(address):\(direct.port)"],
      direct.request.method, fields, url.text(userInfo: false, fragment: false), url.scheme)
  }

  /// A request that goes as any other.
  init(bypassed request: HTTPRequest) throws(DirectDNSError) {
    let url = try? WebURL(request)
    text = try Self.text(
      [], request.method, request.headerFields, url?.text(fragment: false) ?? "", url?.scheme ?? .https)
  }

  private static func text(
    _ route: [String], _ method: HTTPRequest.Method, _ fields: HTTPFields, _ url: String, _ scheme: WebURL.Scheme
  ) throws(DirectDNSError) -> String {
    // Not the user's own configuration, which could follow redirects that nobody judges; no other scheme; and brackets
    // and braces of a URL are not patterns here.
    var words = ["curl", "--disable", "--globoff", "--proto", "=\(scheme.rawValue)"] + route
    switch method {
    case .get: break
    case .head: words.append("--head")
    default: words += ["--request", method.rawValue]
    }
    for field in fields {
      // curl leaves a field out that ends with its colon, and sends an empty one that ends with a semicolon.
      words += ["--header", field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"]
    }
    var line: [[UInt8]] = []
    for word in words + ["--url", url] {
      guard let word = ShellWord(word.utf8) else {
        throw DirectDNSError(
          .invalidRequest, "the request has a NUL character, which no command line can hold. Use --format json.")
      }
      line.append(word.quoted)
    }
    return String(decoding: Array(line.joined(separator: " ".utf8)), as: UTF8.self)
  }
}
