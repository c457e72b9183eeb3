// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Asks one provider at one of its addresses, on a connection of its own, and reports all that it saw.
///
/// It ignores caches, breakers and rate limits, and is as strict about certificates as everything else: if one is
/// refused, it reports the reason and sends nothing.
public struct ProviderProbe: Sendable {
  private static let pool = BlockingPool("probe", width: 16)
  private let trust: CurlTrust
  private let clock: any ResolverClock

  /// Creates a probe.
  ///
  /// - Parameters:
  ///   - trust: whose certificates are trusted; by default the system's.
  ///   - clock: where the time comes from, for signatures and for the comparison with the server's.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` when a private CA's file cannot be used.
  public init(trust: TrustStore = TrustStore(), clock: any ResolverClock = SystemClock()) throws(DirectDNSError) {
    self.trust = try trust.resolved()
    self.clock = clock
  }

  /// Asks the provider.
  ///
  /// - Parameters:
  ///   - provider: the provider to ask.
  ///   - address: the address to ask it at.
  ///   - question: what to ask.
  ///   - timeout: the longest that it may take; by default 3 s, as in a lookup.
  /// - Returns: what was seen, also if it failed.
  public func ask(
    _ provider: any Provider, at address: IPAddress, _ question: AddressQuestion, timeout: Duration = .seconds(3)
  ) async -> ProbeReport {
    let message = provider.request(for: question, at: clock.wallNow.milliseconds / 1000)
    let route = QueryRoute(origin: Origin(provider.url), addresses: [address], trust: trust, width: 1)
    let request = QueryRequest(route: route, message: message, timeout: max(1, timeout.wholeMilliseconds))
    let outcome = await Self.pool.run { CurlProbe.run(request) }
    return ProbeReport(provider, at: address, question, outcome, seenAt: clock.wallNow)
  }
}

/// What a probe saw of a provider at one address.
public struct ProbeReport: Sendable {
  /// What the server's certificate says, which was trusted.
  public struct Certificate: Sendable, Hashable {
    /// The subject, as the TLS library writes it.
    public var subject: String
    /// The issuer, as the TLS library writes it.
    public var issuer: String
    /// When it expires; nil if that could not be read.
    public var expires: WallInstant?
  }

  /// The provider's name.
  public var provider: String
  /// Scheme, host and port.
  public var origin: String
  /// The address that was asked.
  public var address: IPAddress
  /// The answer, or why there is none.
  public var result: Result<Answer, DirectDNSError>
  /// The HTTP status, if there was one.
  public var status: Int?
  /// `1.1` or `2`, if there was a response.
  public var httpVersion: String?
  /// The time until the connection was made; nil if it was not.
  public var connect: Duration?
  /// The time of the TLS handshake; nil without one.
  public var handshake: Duration?
  /// The total time.
  public var total: Duration
  /// TLS version and cipher, such as `TLSv1.3 / TLS_AES_256_GCM_SHA384`.
  public var cipher: String?
  /// The server's certificate; nil without TLS, or when it was refused.
  public var certificate: Certificate?
  /// How far the server's clock is ahead of this machine's, by its `Date` and `Age` fields, to about a second; negative
  /// if it is behind, nil if the server does not say.
  public var clockSkew: Duration?

  init(
    _ provider: any Provider, at address: IPAddress, _ question: AddressQuestion, _ outcome: CurlProbe.Outcome,
    seenAt now: WallInstant
  ) {
    self.provider = provider.name
    origin = provider.url.originText
    self.address = address
    connect = outcome.connect
    handshake = outcome.tls.map { $0 - (outcome.connect ?? .zero) }
    total = outcome.total
    cipher = outcome.cipher
    switch outcome.result {
    case .failure(let error): result = .failure(Self.error(error, provider, address))
    case .success(let reply):
      status = reply.status.code
      httpVersion = outcome.isHTTP2 ? "2" : "1.1"
      certificate = Certificate(lines: outcome.certificate)
      clockSkew = Self.skew(outcome.date, age: reply.freshness.age, seenAt: now)
      do throws(ProviderFailure) {
        // As in a lookup: a caller's own format may say anything.
        result = .success(try provider.answer(from: reply, to: question).fitting(question).get())
      } catch {
        result = .failure(DirectDNSError(.upstreamFailed, "\(provider.name) at \(address): \(error.reason)."))
      }
    }
  }

  private static func error(_ error: HTTPTransportError, _ provider: any Provider, _ address: IPAddress)
    -> DirectDNSError
  {
    let code: DirectDNSError.Code =
      switch error {
      case .connect, .noSocket, .refusedByProxy, .tls, .tlsSetup, .timedOut, .connectionLost, .malformedResponse:
        error.code
      case .bodyTooLarge, .fieldsTooLarge, .invalidRequest, .cancelled, .shutDown: .upstreamFailed
      }
    return DirectDNSError(code, "\(provider.name) at \(address): \(error.text).", underlying: error)
  }

  /// `Date` has whole seconds, so half a second is added, by which it is behind on average.
  ///
  /// A reply out of an HTTP cache has the date at which its server made it, and `Age` says how long ago that was (RFC 9111
  /// §4.2.3).
  private static func skew(_ date: String?, age: UInt32, seenAt now: WallInstant) -> Duration? {
    guard let date, let time = CookieTime(cookieDate: date) else { return nil }
    return WallInstant(milliseconds: (time.secondsSince1970 + Int64(age)) * 1000 + 500) - now
  }
}

extension ProbeReport.Certificate {
  /// What libcurl says about it; nil if it says nothing.
  init?(lines: [String]) {
    func value(_ name: String) -> String? {
      lines.first { $0.hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 1)) }
    }
    guard let issuer = value("Issuer") else { return nil }
    self.issuer = issuer
    subject = value("Subject") ?? ""
    expires = value("Expire date").flatMap { CookieTime(cookieDate: $0) }.map {
      WallInstant(milliseconds: $0.secondsSince1970 * 1000)
    }
  }
}
