// SPDX-License-Identifier: Apache-2.0
/// Records of any type.
extension DirectResolver {
  /// Looks up the records of a name.
  ///
  /// A and AAAA records of a host name are looked up like addresses, with cache, expired answers and store. Records of
  /// other types are asked for each time, of those servers that carry them, with the same order, deadlines, rates,
  /// breakers and hedging. The system's DNS is only asked for addresses.
  ///
  /// - Parameters:
  ///   - name: the name; see ``DNSName/init(asking:)`` for one that a person has written.
  ///   - type: the type, such as `.mx`.
  ///   - options: how long it may take and, for A and AAAA, whether expired answers may be served.
  /// - Returns: at least one record.
  /// - Throws: `nameNotFound` or `noRecord` if there is none; `timedOut` or `upstreamFailed`; `refused` for a name that
  ///   no provider is asked about; `invalidRequest` for a type that cannot be asked for; `invalidConfiguration` if no
  ///   provider carries the type; `cancelled` or `shutDown`.
  nonisolated(nonsending) public func records(
    of name: DNSName, type: DNSRecordType, options: LookupOptions = LookupOptions()
  ) async throws(DirectDNSError) -> RecordResolution {
    let host = name.hostName
    if let host, type == .a || type == .aaaa {
      var options = options
      options.families = type == .a ? .ipv4 : .ipv6
      do throws(DirectDNSError) {
        return RecordResolution(try await resolve(host, options: options), of: host, type)
      } catch {
        throw error.code == .noAddress ? DirectDNSError(noRecord: type, of: name) : error
      }
    }
    guard type.isQueryable else {
      throw DirectDNSError(.invalidRequest, "\(type) is not a record type that can be queried.")
    }
    try checkZone(of: name, type)
    return try await ask(DNSQuestion(name: name, type: type), options.timeout)
  }

  /// Looks up the records of a name as people write it.
  nonisolated(nonsending) public func records(
    of name: String, type: DNSRecordType, options: LookupOptions = LookupOptions()
  ) async throws(DirectDNSError) -> RecordResolution {
    try await records(of: DNSName(asking: name), type: type, options: options)
  }

  /// Asks the providers, and nothing else, for a name's addresses of one family.
  ///
  /// Cache, store, pins and the system's DNS are left out: it is for a comparison of what each provider says, also that
  /// there are none, and whether that is authenticated.
  package func askProviders(
    for host: HostName, _ family: IPAddress.Family, timeout: Duration
  ) async throws(DirectDNSError) -> RecordAnswer {
    try await askProviders(AddressQuestion(host, family).message, timeout).answer
  }

  /// Refuses names that no public provider is asked about.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - type: what is asked for.
  /// - Throws: why nobody is asked.
  private func checkZone(of name: DNSName, _ type: DNSRecordType) throws(DirectDNSError) {
    switch settings.configuration.localZones.route(for: name) {
    case .providers: return
    case .pinned, .loopback: throw DirectDNSError(noRecord: type, of: name)
    case .neverExists: throw .neverExists(name.shown)
    case .refused: throw .isOnion(name.shown)
    case .system:
      throw DirectDNSError(
        .refused,
        "\(name.shown) is a name of this network: no provider is asked for it, and the system's DNS is asked for addresses alone. Ask this network's own DNS server, by dig for example."
      )
    }
  }

  private func ask(_ question: DNSQuestion, _ timeout: Duration?) async throws(DirectDNSError) -> RecordResolution {
    let asked: QueryMachine.Answered<RecordAnswer>
    do throws(DirectDNSError) { asked = try await askProviders(question, timeout) } catch {
      // A new configuration ends the lookups of names that are looked up elsewhere from then on.
      if error.code != .cancelled, error.code != .shutDown { try checkZone(of: question.name, question.type) }
      throw error
    }
    return try RecordResolution(asked.answer, to: question, from: asked.server.name)
  }

  private func askProviders(
    _ question: DNSQuestion, _ timeout: Duration?
  ) async throws(DirectDNSError) -> QueryMachine.Answered<RecordAnswer> {
    let number = lookups.send { $0.askRecords(question, timeout, at: $1) }
    switch await lookups.records(of: number) {
    case .success(let answered): return answered
    case .failure(let failed): throw recordsFailed(question, failed)
    }
  }

  private func recordsFailed(_ question: DNSQuestion, _ failed: QueryMachine.QuestionFailure) -> DirectDNSError {
    let names = settings.configuration.providers.filter { !$0.provider.carries(question) }.map(\.provider.name)
    guard names.count < settings.configuration.providers.count else {
      let who = names.isEmpty ? "No provider is configured" : "\(names.joined(separator: ", ")) carries addresses alone"
      return DirectDNSError(
        .invalidConfiguration,
        "\(question.type) cannot be asked for: \(who). Name a provider of DNS messages (RFC 8484) or of a JSON API, such as google or doh+https://…."
      )
    }
    if failed.cause == .cancelled {
      if hasEnded {
        return DirectDNSError(.shutDown, "The resolver was shut down before \(question.shown) was looked up.")
      }
      // Otherwise it is a transport of the application's that was cancelled by itself: no provider has answered.
      if Task.isCancelled {
        return DirectDNSError(
          .cancelled, "The lookup of \(question.shown) was cancelled.", underlying: CancellationError())
      }
    }
    let isTimeout = failed.cause == .timedOut
    return DirectDNSError(
      isTimeout ? .timedOut : .upstreamFailed,
      "\(question.shown) could not be looked up: no provider answered\(isTimeout ? " in time" : ""). "
        + LookupMachine.advice(failed.attempts), attempts: failed.attempts)
  }
}
