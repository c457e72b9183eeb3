// SPDX-License-Identifier: Apache-2.0
/// Cookies by RFC 6265bis: what responses set, and what requests carry.
///
/// A jar is safe for concurrent use, bounded by its ``CookieJarConfiguration``, and uses the wall clock. <doc:Cookies>
/// explains its rules.
///
/// If the URL of a request has an address in place of the host (the literal form of a rewritten request), pass the
/// request's `Host` field as `hostField`: the cookies are that host's. With a name in the URL it is ignored.
///
/// `Secure` cookies are also stored and sent without TLS if a request stays on this machine. By default the URL decides
/// that (`localhost`, 127.0.0.1). If you use a proxy, or other addresses for such names, pass as `staysOnMachine`
/// whether the connection really goes to this machine; ``DirectClient`` does. For any other URL it has no effect.
public final class CookieJar: Sendable {
  /// How much the jar holds.
  public let configuration: CookieJarConfiguration
  private let clock: any ResolverClock
  private let state: Locked<CookieStore>

  /// Creates an empty jar.
  ///
  /// - Parameters:
  ///   - configuration: how much the jar holds.
  ///   - clock: where the wall clock's seconds come from; the system's by default.
  public init(
    _ configuration: CookieJarConfiguration = CookieJarConfiguration(), clock: any ResolverClock = SystemClock()
  ) {
    self.configuration = configuration
    self.clock = clock
    state = Locked(CookieStore(configuration: configuration))
  }

  var now: CookieTime { CookieTime(clock) }

  // MARK: Responses

  /// Stores the cookie of a `Set-Cookie` field of a response, or deletes the one that it deletes.
  ///
  /// - Parameters:
  ///   - field: one field's value.
  ///   - url: the URL that was asked for.
  ///   - hostField: the request's own `Host`, if the URL has an address.
  ///   - staysOnMachine: whether a request to `localhost` goes there itself; true by default. See the discussion of the
  ///     jar.
  /// - Returns: the cookie, also one that only deletes; or why it was ignored.
  @discardableResult
  public func store(
    setCookie field: String, for url: WebURL, hostField: String? = nil, staysOnMachine: Bool = true
  ) -> Result<Cookie, CookieRejection> {
    let now = now
    return Result { () throws(CookieRejection) in
      let request = try CookieContext(url, hostField: hostField, staysOnMachine: staysOnMachine)
      let cookie = try Cookie(SetCookie(field), in: request, now: now)
      try state.withLock { (store) throws(CookieRejection) in
        try store.receive(cookie, in: request, at: now)
      }
      return cookie
    }
  }

  /// Stores the cookie of every `Set-Cookie` field of a response, in order.
  ///
  /// - Parameters:
  ///   - fields: the fields' values.
  ///   - url: the URL that was asked for.
  ///   - hostField: the request's own `Host`, if the URL has an address.
  ///   - staysOnMachine: whether a request to `localhost` goes there itself; true by default. See the discussion of the
  ///     jar.
  /// - Returns: for each field its cookie, or why it was ignored.
  @discardableResult
  public func store(
    setCookie fields: some Sequence<String>, for url: WebURL, hostField: String? = nil, staysOnMachine: Bool = true
  ) -> [Result<Cookie, CookieRejection>] {
    fields.map { store(setCookie: $0, for: url, hostField: hostField, staysOnMachine: staysOnMachine) }
  }

  /// Stores cookies made by hand or read from a file, each in place of the one with the same name, domain and path.
  public func store(_ cookies: some Sequence<Cookie>) {
    let cookies = Array(cookies)
    let now = now
    state.withLock { store in
      for cookie in cookies { store.insert(cookie, at: now) }
    }
  }

  // MARK: Requests

  /// The value of the `Cookie` field of a request.
  ///
  /// Cookies with longer paths come first; equally long ones come in the configuration's
  /// ``CookieJarConfiguration/order``. The cost depends on the cookies of the host and the domains above it, not on the
  /// size of the jar.
  ///
  /// - Parameters:
  ///   - url: where the request goes.
  ///   - hostField: the request's own `Host`, if the URL has an address.
  ///   - staysOnMachine: whether a request to `localhost` goes there itself; true by default. See the discussion of the
  ///     jar.
  /// - Returns: the value; nil when there is nothing to send.
  public func cookieHeader(for url: WebURL, hostField: String? = nil, staysOnMachine: Bool = true) -> String? {
    guard let request = try? CookieContext(url, hostField: hostField, staysOnMachine: staysOnMachine) else {
      return nil
    }
    let now = now
    return state.withLock { $0.header(for: request, at: now) }
  }

  /// The value of the `Cookie` field of a request, made of the cookies that a filter lets through.
  ///
  /// - Parameters:
  ///   - url: where the request goes.
  ///   - hostField: the request's own `Host`, if the URL has an address.
  ///   - staysOnMachine: whether a request to `localhost` goes there itself; true by default. See the discussion of the
  ///     jar.
  ///   - isIncluded: the filter; it may use the jar.
  /// - Returns: the value; nil when there is nothing to send.
  public func cookieHeader(
    for url: WebURL, hostField: String? = nil, staysOnMachine: Bool = true, where isIncluded: (Cookie) -> Bool
  ) -> String? {
    guard let request = try? CookieContext(url, hostField: hostField, staysOnMachine: staysOnMachine) else {
      return nil
    }
    let now = now
    // The caller's code never runs with the lock held.
    let found = state.withLock { $0.entries(for: request, at: now) }
    // A value that came in between is left out, since the filter has not seen it.
    let included = Dictionary(
      found.filter { isIncluded($0.cookie) }.map { ($0.order, $0.cookie.value) }, uniquingKeysWith: { $1 })
    return state.withLock { store in
      store.header(for: request, at: now) { included[$0.order] == $0.cookie.value }
    }
  }

  // MARK: Reading

  /// The cookies that a request for a URL would carry; reading them does not count as use.
  ///
  /// - Parameters:
  ///   - url: where the request would go.
  ///   - hostField: the request's own `Host`, if the URL has an address.
  ///   - staysOnMachine: whether a request to `localhost` goes there itself; true by default. See the discussion of the
  ///     jar.
  ///   - isIncluded: a filter; by default everything passes.
  /// - Returns: the cookies, in the order in which they would be sent.
  public func cookies(
    for url: WebURL, hostField: String? = nil, staysOnMachine: Bool = true,
    where isIncluded: (Cookie) -> Bool = { _ in true }
  ) -> [Cookie] {
    guard let request = try? CookieContext(url, hostField: hostField, staysOnMachine: staysOnMachine) else { return [] }
    let now = now
    return state.withLock { $0.entries(for: request, at: now) }.map(\.cookie).filter(isIncluded)
  }

  /// Every cookie that has not expired, in the order in which they came.
  public var cookies: [Cookie] {
    let now = now
    return state.withLock { $0.cookies(at: now) }
  }

  // MARK: Clearing

  /// Removes the cookies that a request for a URL would carry, and those that are held back from it.
  ///
  /// - Parameters:
  ///   - url: where the request would go.
  ///   - hostField: the request's own `Host`, if the URL has an address.
  public func removeAll(for url: WebURL, hostField: String? = nil) {
    guard let request = try? CookieContext(url, hostField: hostField) else { return }
    let now = now
    state.withLock { store in
      _ = store.removeAll(on: [request.host] + Array(request.host.parents)) { $0.cookie.matches(request, at: now) }
    }
  }

  /// Removes every cookie.
  public func removeAll() {
    state.withLock { $0 = CookieStore(configuration: $0.configuration) }
  }

  /// Removes the cookies that last as long as the session, which is over.
  public func removeSessionCookies() {
    state.withLock { _ = $0.removeAll { $0.cookie.expires == nil } }
  }

  /// Frees what expired cookies take up; they are never shown or sent anyway.
  ///
  /// - Returns: how many there were.
  @discardableResult
  public func removeExpired() -> Int {
    let now = now
    return state.withLock { store in store.removeAll { $0.cookie.isExpired(at: now) } }
  }

  // MARK: Repairing

  /// Moves the cookies that were filed under an address to the host that the address stood for.
  ///
  /// They become host-only. Of two cookies with the same name and path the host's own stays, unless it is older; an
  /// older one stays too if it is `Secure` and the other one is not.
  ///
  /// - Parameters:
  ///   - address: the address that cookies are filed under.
  ///   - host: the host that it stood for.
  /// - Returns: what happened to each.
  @discardableResult
  public func repair(from address: IPAddress, to host: HostName) -> CookieRepair {
    repair(from: address, to: [host])
  }

  /// Moves the cookies that were filed under an address to the host that it stood for, if that is the only one.
  ///
  /// With two or more hosts, the cookies stay where they are and are never sent until they are repaired, cleared or
  /// replaced. With none nothing changes.
  ///
  /// - Parameters:
  ///   - address: the address that cookies are filed under.
  ///   - candidates: the hosts that it may have stood for.
  /// - Returns: what happened to each.
  @discardableResult
  public func repair(from address: IPAddress, to candidates: some Sequence<HostName>) -> CookieRepair {
    let candidates = Set(candidates)
    let now = now
    return state.withLock { $0.repair(address, candidates: candidates, at: now) }
  }
}
