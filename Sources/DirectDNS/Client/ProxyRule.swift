// SPDX-License-Identifier: Apache-2.0
/// Which proxy a request goes through: a pure function of its URL and of what was configured.
struct ProxyRule: Sendable {
  private let http: WebURL?
  private let https: WebURL?
  private let exceptions: [String]

  /// Reads a choice.
  ///
  /// - Parameters:
  ///   - choice: what was configured.
  ///   - environment: the process's, as curl reads it: `http_proxy` in lower case alone, since a web server hands
  ///     `HTTP_PROXY` to its children for a request's `Proxy` field (CVE-2016-5385).
  /// - Throws: `invalidConfiguration` for a proxy that is no URL, or of another scheme than http and https.
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

  /// The proxy for a URL; nil for one that is asked directly.
  func proxy(for url: WebURL) -> WebURL? {
    guard let proxy = url.scheme.isSecure ? https : http, !isExcepted(url) else { return nil }
    return proxy
  }

  /// Whether `no_proxy` has the host: by name, by a domain that it lies in, by address, by network, or with `*`.
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
    list.lowercased().split { $0 == "," || $0 == " " }.map { entry in
      String(entry.hasPrefix(".") ? entry.dropFirst() : entry)
    }
  }

  private static func url(_ text: String?, _ name: String) throws(DirectDNSError) -> WebURL? {
    guard let text else { return nil }
    do {
      return try checked(WebURL(text.contains("://") ? text : "http://" + text))
    } catch {
      throw DirectDNSError(
        .invalidConfiguration, "\(name) is no proxy that can be used: \(error.message)", underlying: error)
    }
  }

  private static func checked(_ url: WebURL) throws(DirectDNSError) -> WebURL {
    guard url.scheme == .http || url.scheme == .https else {
      throw DirectDNSError(
        .invalidConfiguration, "a proxy of scheme \(url.scheme.rawValue) cannot be used: http and https are known")
    }
    return url
  }
}
