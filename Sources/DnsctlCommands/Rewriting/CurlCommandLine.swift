// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// The command line of curl that does the same.
///
/// All of its URLs are canonical, so that curl reads the same host that was checked.
struct CurlCommandLine {
  /// The command line, quoted for a shell, without a line break.
  let text: String

  /// A request that goes to an address: the URL keeps the name, which curl then verifies.
  init(_ direct: DirectRequest) throws(DirectDNSError) {
    let url = direct.originalURL
    let address = WebURL.Host.address(direct.address)
    var fields = direct.request.headerFields
    fields[.originalURL] = nil
    // curl adds by itself what rewriting has added.
    if fields[.hostField] == url.hostAndPort { fields[.hostField] = nil }
    // Without a proxy, which curl would ask for a tunnel to the address.
    text = try Self.text(
      ["--noproxy", "*", "--connect-to", "\(url.host):\(direct.port):\(address):\(direct.port)"],
      direct.request.method, fields, url.text(userInfo: false, fragment: false), url.scheme)
  }

  /// A request that is sent unchanged.
  init(bypassed request: HTTPRequest) throws(DirectDNSError) {
    let url = try? WebURL(request)
    text = try Self.text(
      [], request.method, request.headerFields, url?.text(fragment: false) ?? "", url?.scheme ?? .https)
  }

  private static func text(
    _ route: [String], _ method: HTTPRequest.Method, _ fields: HTTPFields, _ url: String, _ scheme: WebURL.Scheme
  ) throws(DirectDNSError) -> String {
    // Without the user's configuration of curl, which could follow redirects that are not checked; with no other
    // scheme; and without the patterns of curl, since brackets and braces of a URL are ordinary here.
    var words = ["curl", "--disable", "--globoff", "--proto", "=\(scheme.rawValue)"] + route
    switch method {
    case .get: break
    case .head: words.append("--head")
    default: words += ["--request", method.rawValue]
    }
    for field in fields {
      // curl leaves out a field that ends with its colon, and sends an empty one that ends with a semicolon.
      words += ["--header", field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"]
    }
    var line: [[UInt8]] = []
    for word in words + ["--url", url] {
      guard let word = ShellWord(word.utf8) else {
        throw DirectDNSError(
          .invalidRequest, "The request has a NUL character, which no command line can hold. Use --format json.")
      }
      line.append(word.quoted)
    }
    return String(decoding: Array(line.joined(separator: " ".utf8)), as: UTF8.self)
  }
}
