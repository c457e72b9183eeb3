// SPDX-License-Identifier: Apache-2.0
/// A request as the cookie rules see it: whom it is for, for which path, and whether anybody can listen.
struct CookieContext {
  let host: Cookie.Domain
  let path: String
  let isSecure: Bool
  /// The address that stands in the URL in place of the host; nil where the URL has the host.
  let literal: IPAddress?

  /// The request for a URL.
  ///
  /// Its `Host` field counts where the URL has an address (a request in its literal form); beside a name it changes
  /// nothing, or it could draw another site's cookies.
  ///
  /// - Parameters:
  ///   - url: where the request goes.
  ///   - hostField: the request's own `Host`.
  ///   - staysOnMachine: whether its connection goes to this machine; nil to take the URL's word for it.
  /// - Throws: why the host can have no cookies.
  init(_ url: WebURL, hostField: String?, staysOnMachine: Bool? = nil) throws(CookieRejection) {
    path = url.path
    if case .address(let address) = url.host, let hostField {
      host = try Cookie.Domain(Self.host(hostField))
      literal = address
      isSecure = url.scheme.isSecure
    } else {
      host = try Cookie.Domain(url.host)
      literal = nil
      // RFC 6265bis §5.8.3: what stays on the machine is as good as TLS; browsers and curl hold it so, too. A proxy, or
      // a pin for `x.localhost`, takes it elsewhere.
      isSecure = url.scheme.isSecure || (host.isLoopback && staysOnMachine ?? true)
    }
  }

  private static func host(_ field: String) throws(CookieRejection) -> WebURL.Host {
    do {
      return try WebURL.HostAndPort(field.utf8.span).host
    } catch {
      throw .unusableHost(error.message)
    }
  }
}
