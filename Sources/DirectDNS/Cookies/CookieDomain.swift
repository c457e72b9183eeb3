// SPDX-License-Identifier: Apache-2.0
extension Cookie {
  /// The owner of a cookie: a name, or an address for a host without a name.
  public enum Domain: Hashable, Sendable, CustomStringConvertible {
    /// A name; a URL's final dot is dropped.
    case name(HostName)
    /// The address of a host that was asked by address.
    case address(IPAddress)

    /// The domain as text: the name, or the address without brackets.
    public var description: String {
      switch self {
      case .name(let name): name.text
      case .address(let address): address.description
      }
    }
  }
}

extension Cookie.Domain {
  /// The domain of a URL's host, whose final dot is ignored.
  package init(_ host: WebURL.Host) throws(CookieRejection) {
    switch host {
    case .address(let address): self = .address(address)
    case .name:
      do {
        self = try .name(HostName(host))
      } catch {
        throw .unusableHost(error.clause)
      }
    }
  }

  /// Whether this host is the domain or lies below it (RFC 6265bis §5.1.3).
  func matches(_ domain: Cookie.Domain) -> Bool {
    switch (self, domain) {
    case (.name(let name), .name(let suffix)): name.hasSuffix(suffix)
    case (.address(let own), .address(let other)): own == other
    default: false
    }
  }

  /// The host itself or the domain above it that a `Domain` attribute names; nil for any other.
  package func covering(_ attribute: String) -> Cookie.Domain? {
    switch self {
    case .address(let address):
      // In brackets, too, as the host of a URL has them: then the two are the same text (RFC 6265bis §5.1.3).
      let isBracketed = attribute.utf8.first == ASCII.openBracket
      let named: WebURL.Host? =
        if isBracketed { try? WebURL.Host(attribute) } else { IPAddress(attribute).map(WebURL.Host.address) }
      return named == .address(address) ? self : nil
    case .name(let name):
      guard attribute.utf8.count <= name.text.utf8.count, attribute.utf8.last != ASCII.dot else { return nil }
      // The end of a canonical name is canonical too.
      let domain = HostName(canonical: attribute)
      return name.hasSuffix(domain) ? .name(domain) : nil
    }
  }

  /// The domains above this host that can have cookies for it; not a single label, which is a public suffix.
  var parents: some Sequence<Cookie.Domain> {
    let text: Substring = if case .name(let name) = self { name.text[...] } else { "" }
    return sequence(state: text) { rest -> Cookie.Domain? in
      guard let dot = rest.utf8.firstIndex(of: ASCII.dot) else { return nil }
      rest = rest[rest.utf8.index(after: dot)...]
      return rest.utf8.contains(ASCII.dot) ? .name(HostName(canonical: String(rest))) : nil
    }
  }

  /// The domain that this one's cookies are counted for: the registrable domain, or itself if it has none.
  var owner: Cookie.Domain {
    guard case .name(let name) = self, let registrable = name.registrableDomain else { return self }
    return .name(registrable)
  }

  /// Whether nobody may set cookies for the domain and what lies below it.
  var isPublicSuffix: Bool {
    guard case .name(let name) = self else { return false }
    return PublicSuffix.contains(name)
  }

  /// Whether requests to the host stay on this machine: the names are those of RFC 6761 §6.3.
  var isLoopback: Bool {
    switch self {
    case .address(let address): address.isLoopback
    case .name(let name): name.hasSuffix(Cookie.Domain.localhost)
    }
  }

  private static let localhost = HostName(canonical: "localhost")
}

/// What the cookie rules need of a request: its host, its path, and whether it is secure.
struct CookieContext {
  let host: Cookie.Domain
  let path: String
  let isSecure: Bool
  /// The address in the URL, if the host is that of the `Host` field; otherwise nil.
  let literal: IPAddress?

  /// The request for a URL.
  ///
  /// Its `Host` field counts only if the URL has an address (the literal form of a rewritten request): beside a name it
  /// could get another site's cookies.
  ///
  /// - Parameters:
  ///   - url: where the request goes.
  ///   - hostField: the request's own `Host`.
  ///   - staysOnMachine: whether a request to this machine, by its URL, goes there.
  /// - Throws: why the host can have no cookies.
  init(_ url: WebURL, hostField: String?, staysOnMachine: Bool = true) throws(CookieRejection) {
    path = url.path
    if case .address(let address) = url.host, let hostField {
      host = try Cookie.Domain(Self.host(hostField))
      literal = address
      isSecure = url.scheme.isSecure
    } else {
      host = try Cookie.Domain(url.host)
      literal = nil
      // RFC 6265bis §5.8.3: a request that stays on the machine counts as secure, as in browsers and curl. A proxy, or
      // a pin for `x.localhost`, takes it elsewhere.
      isSecure = url.scheme.isSecure || (host.isLoopback && staysOnMachine)
    }
  }

  private static func host(_ field: String) throws(CookieRejection) -> WebURL.Host {
    do {
      return try WebURL.HostAndPort(field.utf8.span).host
    } catch {
      throw .unusableHost(error.clause)
    }
  }
}
