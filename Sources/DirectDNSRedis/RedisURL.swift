// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

extension RedisStoreConfiguration {
  /// Reads `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, the same with `rediss` for TLS, or `redis+unix:///PATH`.
  ///
  /// `valkey` may stand for `redis`. User and password may be percent-encoded. `rediss://…` may end with
  /// `?ca=/PATH` for a file of further authorities, and `cert=/PATH&key=/PATH` for a client certificate.
  ///
  /// - Parameter url: the URL.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` that names the part that is wrong, and shows
  ///   nothing of the password.
  public init(url: String) throws(DirectDNSError) {
    guard let schemeEnd = url.firstRange(of: "://") else { throw Self.invalid("has no scheme: write redis://HOST") }
    let rest = url[schemeEnd.upperBound...]
    switch url[..<schemeEnd.lowerBound].lowercased() {
    case "redis", "valkey": try self.init(rest, isSecure: false)
    case "rediss", "valkeys": try self.init(rest, isSecure: true)
    case "redis+unix", "valkey+unix":
      guard rest.hasPrefix("/"), rest.count > 1 else { throw Self.invalid("has no path: write redis+unix:///PATH") }
      self.init(server: .socket(String(rest)))
    default: throw Self.invalid("has a scheme that is not redis, rediss, valkey, valkeys, redis+unix or valkey+unix")
    }
  }

  /// Reads a URL that is kept as a secret, since it may hold a password.
  ///
  /// - Throws: as for a text.
  public init(url: Secret) throws(DirectDNSError) { try self.init(url: url.text) }

  private init(_ rest: Substring, isSecure: Bool) throws(DirectDNSError) {
    // Behind user and password: these may hold a question mark.
    let start = rest[..<(rest.firstIndex(of: "/") ?? rest.endIndex)].lastIndex(of: "@") ?? rest.startIndex
    guard let mark = rest[start...].firstIndex(of: "?") else {
      try self.init(authorityAndPath: rest)
      if isSecure { tls = TLS() }
      return
    }
    guard isSecure else { throw Self.invalid("has options behind a question mark, which rediss alone has") }
    try self.init(authorityAndPath: rest[..<mark])
    tls = try Self.tls(rest[rest.index(after: mark)...])
  }

  /// Reads `ca=/PATH&cert=/PATH&key=/PATH`.
  private static func tls(_ query: Substring) throws(DirectDNSError) -> TLS {
    var paths: [String: String] = [:]
    for item in query.split(separator: "&", omittingEmptySubsequences: false) {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard ["ca", "cert", "key"].contains(name) else { throw invalid("has an option that is not ca, cert or key") }
      guard parts.count == 2, let path = parts[1].unescaped, path.hasPrefix("/"), !path.utf8.contains(0) else {
        throw invalid("has no absolute path behind \(name)=")
      }
      guard paths.updateValue(path, forKey: name) == nil else { throw invalid("has \(name) twice") }
    }
    switch (paths["cert"], paths["key"]) {
    case (nil, nil): return TLS(authorities: paths["ca"])
    case (let certificate?, let key?):
      return TLS(authorities: paths["ca"], identity: .init(certificate: certificate, key: key))
    default: throw invalid("has one of cert and key: each needs the other")
    }
  }

  private init(authorityAndPath rest: Substring) throws(DirectDNSError) {
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let authority = rest[..<slash]
    // A password may hold an @ that nobody escaped.
    let at = authority.lastIndex(of: "@")
    let place = at.map { authority[authority.index(after: $0)...] } ?? authority
    var hostText = place
    var port: UInt16 = 6379
    if let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") {
      guard let number = UInt16(port: place[place.index(after: colon)...]), number > 0 else {
        throw Self.invalid("has an invalid port: use 1 to 65535")
      }
      hostText = place[..<colon]
      port = number
    }
    guard let host = try? WebURL.Host(String(hostText)) else { throw Self.invalid("has no host that can be used") }
    self.init(server: .tcp(host, port: port))
    if let at {
      let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let user = parts[0].unescaped, let password = parts.last?.unescaped else {
        throw Self.invalid("has a user or password with a % that begins no escape")
      }
      if parts.count == 1 {
        throw Self.invalid("has a user and no password: write USER:PASSWORD@ or :PASSWORD@")
      }
      self.user = user.isEmpty ? nil : user
      self.password = Secret(password)
    }
    let path = rest[slash...].dropFirst()
    guard !path.isEmpty else { return }
    // The conversion alone takes a sign.
    guard path.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(path) else {
      throw Self.invalid("has a database that is not a number")
    }
    database = number
  }

  private static func invalid(_ what: String) -> DirectDNSError {
    DirectDNSError(.invalidConfiguration, "The URL of the Redis store \(what).")
  }
}

extension Substring {
  /// With percent escapes undone; nil if there is a broken one.
  fileprivate var unescaped: String? {
    let parts = utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    guard parts.dropFirst().allSatisfy({ Hex.decoded($0.prefix(2))?.count == 1 }) else { return nil }
    return PercentEncoding.decodedText(self)
  }
}
