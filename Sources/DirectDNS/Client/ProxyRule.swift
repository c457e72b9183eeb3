// SPDX-License-Identifier: Apache-2.0
/// Which proxy a request goes through: a pure function of its URL and the configuration.
struct ProxyRule: Sendable {
  private let http: WebURL?
  private let https: WebURL?
  private let exceptions: [String]

  /// Reads the configured choice.
  ///
  /// - Parameters:
  ///   - choice: the choice.
  ///   - environment: the variables of the process. They are read as by curl: `http_proxy` in lower case only, since a
  ///     web server sets `HTTP_PROXY` of its CGI programs to a request's `Proxy` field (CVE-2016-5385).
  /// - Throws: `invalidConfiguration` for a proxy that is no URL, or whose scheme is neither http nor https.
  init(_ choice: ProxyChoice, environment: [String: String]) throws(DirectDNSError) {
    func variable(_ names: String...) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    switch choice {
    case .none: (http, https, exceptions) = (nil, nil, [])
    case .url(let url, let list):
      (http, https) = (try Self.checked(url), url)
      exceptions = Self.entries(list)
    case .environment:
      let fallback = try Self.url(variable("all_proxy", "ALL_PROXY"), "all_proxy")
      http = try Self.url(variable("http_proxy"), "http_proxy") ?? fallback
      https = try Self.url(variable("https_proxy", "HTTPS_PROXY"), "https_proxy") ?? fallback
      exceptions = Self.entries(variable("no_proxy", "NO_PROXY") ?? "")
    }
  }

  /// The proxy for a URL; nil if the request does not go through one.
  func proxy(for url: WebURL) -> WebURL? {
    guard let proxy = url.scheme.isSecure ? https : http, !isExcepted(url) else { return nil }
    return proxy
  }

  /// Whether an entry of `no_proxy` applies to the host: its name, a domain that it is in, its address, its network, or
  /// `*`.
  private func isExcepted(_ url: WebURL) -> Bool {
    exceptions.contains { entry in
      if entry == "*" { return true }
      switch url.host {
      case .address(let address):
        if let excepted = IPAddress(entry) { return excepted == address }
        return (try? IPNetwork(parsing: entry))?.contains(address) ?? false
      case .name(let name):
        let name = name.hasSuffix(".") ? String(name.dropLast()) : name
        return name == entry || name.hasSuffix("." + entry)
      }
    }
  }

  private static func entries(_ list: String) -> [String] {
    list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map { entry in
      // As in curl, dots around a name say nothing: `.a.test` and `a.test.` are `a.test`.
      let entry = entry.hasPrefix(".") ? entry.dropFirst() : entry
      return String(entry.hasSuffix(".") ? entry.dropLast() : entry)
    }
  }

  private static func url(_ text: String?, _ name: String) throws(DirectDNSError) -> WebURL? {
    guard let text else { return nil }
    do {
      return try checked(WebURL(text.contains("://") ? text : "http://" + text))
    } catch {
      throw DirectDNSError(
        .invalidConfiguration, "\(name) cannot be used as a proxy: \(error.clause).", underlying: error)
    }
  }

  private static func checked(_ url: WebURL) throws(DirectDNSError) -> WebURL {
    guard url.scheme == .http || url.scheme == .https else {
      throw DirectDNSError(
        .invalidConfiguration, "A proxy of scheme \(url.scheme.rawValue) cannot be used: http and https are known.")
    }
    return url
  }
}
