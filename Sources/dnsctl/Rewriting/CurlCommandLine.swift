internal import DirectDNS
internal import HTTPTypes

/// The command line of curl that does the same.
struct CurlCommandLine {
  /// The command line, quoted for a shell.
  let text: String

  /// A request that goes to an address: the URL keeps the name, which curl then verifies.
  init(_ direct: DirectRequest) {
    let host = direct.originalURL.host
    let address = WebURL.Host.address(direct.address)
    // A proxy would have to tunnel to the address, and would be asked to by curl.
    let route = ["--noproxy", "*", "--connect-to", "\(host):\(direct.port):\(address):\(direct.port)"]
    var fields = direct.request.headerFields
    fields[.originalUrl] = nil
    // What rewriting added, curl adds by itself.
    if fields[.hostField] == direct.originalURL.hostAndPort { fields[.hostField] = nil }
    let url = direct.originalURL.text(userInfo: false, fragment: false)
    text = Self.text(route, direct.request.method, fields, url)
  }

  /// A request that goes as any other.
  init(_ request: HTTPRequest, url: String) {
    text = Self.text([], request.method, request.headerFields, url)
  }

  private static func text(
    _ route: [String], _ method: HTTPRequest.Method, _ fields: HTTPFields, _ url: String
  ) -> String {
    // Brackets and braces of a URL are not patterns here.
    var words = ["curl", "--globoff"] + route
    switch method {
    case .get: break
    case .head: words.append("--head")
    default: words += ["--request", method.rawValue]
    }
    for field in fields {
      // curl leaves a field out that ends with its colon, and sends an empty one that ends with a semicolon.
      words += ["--header", field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"]
    }
    return (words + ["--", url]).map(quoted).joined(separator: " ")
  }

  /// A word that a POSIX shell reads as one, whatever is in it.
  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
          UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "%"):
          true
        default: false
        }
      }
    return isPlain
      ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
