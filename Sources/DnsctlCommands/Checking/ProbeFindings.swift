// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

extension Finding {
  /// What a probe of one provider at one address means: a pure function.
  static func probe(_ report: ProbeReport, at now: WallInstant) -> Finding {
    let isNamed = !report.provider.hasPrefix("\(WebURL.Host.address(report.address))")
    // A name that is only the address may be followed by a path, which tells it from others.
    let subject =
      isNamed ? "\(report.provider) \(report.address)" : report.origin + report.provider.drop { $0 != "/" }
    switch report.result {
    case .failure(let error):
      return .fail(subject, reason(error, report), advice(error, report.status))
    case .success:
      let detail = seen(report, now)
      guard let expires = report.certificate?.expires, expires - now < .seconds(14 * 86_400) else {
        return slow(report, subject, detail) ?? .ok(subject, detail)
      }
      return .warn(subject, detail, "Its certificate ends soon: tell who runs it, and name another provider.")
    }
  }

  /// A provider with IPv6 addresses alone, on a machine that has no route for them.
  static func unroutable(_ provider: any Provider) -> Finding {
    let host = provider.url.host
    let isName = if case .name = host { true } else { false }
    return .fail(
      provider.name, "only IPv6 addresses, and no route",
      isName
        ? "Give it an IPv4 address if it has one: --bootstrap \(host)=ADDRESS. Else name another provider."
        : "Name another provider: this machine reaches IPv4 addresses alone.")
  }

  /// A provider that takes longer causes twice as many queries, since the next one is asked too (hedging).
  private static let slowTime = Duration.seconds(1)

  private static func slow(_ report: ProbeReport, _ subject: String, _ detail: String) -> Finding? {
    guard report.total > slowTime else { return nil }
    return .warn(subject, detail, "It is slow from here: put a nearer provider before it.")
  }

  private static func reason(_ error: DirectDNSError, _ report: ProbeReport) -> String {
    let name = "\(report.provider) at \(report.address): "
    let clause = error.clause
    let text = clause.hasPrefix(name) ? String(clause.dropFirst(name.count)) : clause
    return "\(text) (after \(report.total.readable))"
  }

  private static func advice(_ error: DirectDNSError, _ status: Int?) -> String {
    switch error.code {
    case .tlsFailed where (error.underlying as? HTTPTransportError)?.isSetup == true:
      "Check the files of authorities that are named: --ca, SSL_CERT_FILE, SSL_CERT_DIR."
    case .tlsFailed: error.tlsFault.providerAdvice
    case .connectFailed: "Is the address right, and may this machine send there? Check routes and firewall."
    case .timedOut: "The address is silent: check the firewall, or name another provider."
    default: advice(aboutStatus: status)
    }
  }

  private static func advice(aboutStatus status: Int?) -> String {
    switch status {
    case 429?: "It wants fewer queries: ask it less often (configuration file: rateLimit), or name another provider."
    case .some(500...): "It says that it fails: tell who runs it, and name another provider."
    default: "The server works and does not answer: check its URL and credentials, or name another provider."
    }
  }

  private static func seen(_ report: ProbeReport, _ now: WallInstant) -> String {
    var parts = ["\(report.total.readable)"]
    if let status = report.status, let version = report.httpVersion { parts.append("HTTP/\(version) \(status)") }
    if let cipher = report.cipher { parts.append(cipher) }
    if let certificate = report.certificate {
      parts.append("by \(organisation(certificate.issuer).printable)")
      if let expires = certificate.expires { parts.append("ends in \((expires - now).rough)") }
    }
    return parts.joined(separator: ", ") + denial(report)
  }

  /// That the provider works and knows no address: it may be the wrong name to ask for, or a provider that lies.
  private static func denial(_ report: ProbeReport) -> String {
    guard case .success(let answer) = report.result else { return "" }
    return switch answer.content {
    case .addresses: ""
    case .negative(.nameNotFound): "; says that the name does not exist"
    case .negative(.noAddress): "; says that the name has no address"
    }
  }

  /// The organisation of a distinguished name, or all of it.
  private static func organisation(_ name: String) -> String {
    let parts = name.split(separator: ",").map { part in
      part.split(separator: "=", maxSplits: 1).map { String($0.trimmed) }
    }
    for key in ["O", "CN"] {
      if let part = parts.first(where: { $0.count == 2 && $0[0] == key }) { return part[1] }
    }
    return name
  }

  // MARK: Clock

  /// What the providers' clocks say about this machine's: a pure function.
  ///
  /// The median counts, so that a single wrong clock does not matter.
  ///
  /// - Parameters:
  ///   - reports: the probes of the providers.
  ///   - jump: how much further than the monotonic clock the wall clock moved during the probes.
  /// - Returns: the finding.
  static func clock(_ reports: [ProbeReport], jump: Duration) -> Finding {
    guard jump.size < .seconds(1) else {
      return .warn(
        "clock", "was set by \(jump.size.rough) during the check",
        "Stored answers count as expired after a jump: have the clock slewed, not stepped.")
    }
    let skews = reports.compactMap(\.clockSkew).sorted()
    guard !skews.isEmpty else {
      let isSuspect = reports.contains { $0.result.error?.tlsFault?.mayBeTheClock == true }
      return .warn(
        "clock", "no provider sent the time",
        isSuspect
          ? "Check it by hand: by this clock a certificate has expired, or is not valid yet."
          : "Check it by hand: signatures and certificates need it.")
    }
    let skew = skews[skews.count / 2]
    let size = skew.size
    let detail = size < .seconds(2) ? "right to 2 s" : "\(size.rough) \(skew < .zero ? "ahead" : "behind")"
    if size > .seconds(300) {
      return .fail("clock", detail, "Certificates and signed requests fail: set the clock (systemd-timesyncd, chrony).")
    }
    if size > .seconds(30) {
      return .warn("clock", detail, "Signed requests may fail: set the clock (systemd-timesyncd, chrony).")
    }
    return .ok("clock", detail)
  }
}

extension DirectDNSError {
  /// What is wrong with the server's certificate or TLS, if that is why it failed.
  fileprivate var tlsFault: TLSFault? { (underlying as? HTTPTransportError)?.tlsFault }
}

extension HTTPTransportError {
  /// Whether this machine could not set up TLS, which says nothing about the provider.
  fileprivate var isSetup: Bool { if case .tlsSetup = self { true } else { false } }
}

extension Duration {
  fileprivate var size: Duration { self < .zero ? .zero - self : self }
}
