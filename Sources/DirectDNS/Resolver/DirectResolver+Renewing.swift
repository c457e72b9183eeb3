// SPDX-License-Identifier: Apache-2.0
/// A name that is asked for ahead of need.
extension DirectResolver {
  /// What came of a renewal.
  struct Renewal: Sendable {
    var resolution: Resolution
    /// Whether anything had to be asked for, of the store or of a provider.
    var wasAsked: Bool
  }

  /// Asks for whatever is not fresh of a name and, other than a lookup, waits for all of it.
  ///
  /// What is fresh costs no query. Where the asking fails, an expired answer serves.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - families: which families; the resolver's own by default.
  ///   - isPatient: false where nobody is expected to answer: then a name that has an expired answer waits for no longer
  ///     than a lookup would.
  /// - Returns: the answer.
  /// - Throws: why there is none.
  func renew(_ host: HostName, _ families: AddressFamilies?, isPatient: Bool) async throws(DirectDNSError) -> Renewal {
    let options = LookupOptions(families: families)
    var found = Resolution()
    if readFresh(host, options, to: &found) { return Renewal(resolution: found, wasAsked: false) }
    let request = request(host, options, settings)
    if let local = try local(host, request.route, request.wanted) { return Renewal(resolution: local, wasAsked: false) }
    let number = lookups.tell { $0.renew(request, isPatient: isPatient, at: $1) }
    let outcome = await lookups.outcome(of: number)
    return Renewal(resolution: try outcome.result.get(), wasAsked: outcome.wasAsked)
  }
}
