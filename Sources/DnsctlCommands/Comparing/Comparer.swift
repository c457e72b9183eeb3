// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration

/// Asks each provider separately, and the system's DNS, without caches, stores and pins.
struct Comparer: Sendable {
  /// A provider, or the system's DNS.
  private struct Source: Sendable {
    var name: String
    /// A resolver with only this provider; nil for the system's DNS.
    var resolver: DirectResolver?
    /// Whether it distinguishes a name without addresses from one that does not exist.
    var tellsDenials = true
  }

  private let sources: [Source]
  private let system: any SystemSource
  private let clock: any ResolverClock
  private let timeout: Duration
  private let zones: LocalZones

  /// - Parameters:
  ///   - settings: the providers, the trusted authorities, and how long a lookup may take.
  ///   - context: makes the resolvers.
  /// - Throws: if a configuration cannot be used, or if there is nobody to compare.
  init(_ settings: DirectSettings, in context: CommandContext) throws(CommandError) {
    zones = LocalZones(suffixes: settings.resolver.localZones.suffixes)
    var sources: [Source] = []
    for provider in settings.resolver.reachedProviders {
      var configuration = settings.resolver
      configuration.providers = [provider]
      configuration.localZones = zones
      configuration.keepAlive = []
      configuration.store = nil
      do throws(DirectDNSError) {
        let resolver = try context.makeResolver(configuration, settings.systemServers)
        sources.append(
          Source(
            name: provider.provider.name, resolver: resolver, tellsDenials: provider.provider is any RecordProvider))
      } catch {
        throw CommandError(error)
      }
    }
    if settings.resolver.usesSystemDNS { sources.append(Source(name: "system")) }
    guard sources.count > 1 else {
      for source in sources { source.resolver?.shutdown() }
      throw CommandError(
        .usage,
        "there is nobody to compare\(sources.first.map { " \($0.name) with" } ?? ""): name another --provider, or allow the system's DNS (no --no-system, DIRECTDNS_SYSTEM=true)."
      )
    }
    self.sources = sources
    system = context.systemSource(settings.systemServers)
    clock = context.clock
    timeout = settings.lookup.timeout ?? settings.resolver.timeout
  }

  /// Shuts the resolvers down.
  func end() { for source in sources { source.resolver?.shutdown() } }

  /// The name in a text, if providers are asked for such names.
  func host(_ text: String) throws(DirectDNSError) -> HostName {
    let host = try HostName(text)
    guard let reason = zones.objection(to: host) else { return host }
    throw DirectDNSError(.refused, "\(host) cannot be compared: \(reason).")
  }

  /// Asks all of them at once.
  func compare(_ host: HostName, _ family: IPAddress.Family) async -> Comparison {
    let answers = await sources.mapAtOnce { source -> SourceAnswer in
      let start = clock.now
      var answer = await ask(source, host, family)
      answer.elapsed = clock.now - start
      return answer
    }
    return Comparison(answers)
  }

  private func ask(_ source: Source, _ host: HostName, _ family: IPAddress.Family) async -> SourceAnswer {
    var answer = SourceAnswer(source: source.name, content: .noAddress, elapsed: .zero)
    guard let resolver = source.resolver else {
      do throws(ProviderFailure) {
        let found = try await system.answer(to: host, family: family, timeout: timeout)
        answer.content = SourceAnswer.Content(found.content)
        answer.ttl = found.addresses.isEmpty ? nil : found.ttl.map(Int64.init)
      } catch {
        answer.content = .failed(error.reason)
      }
      return answer
    }
    do throws(DirectDNSError) {
      let found = try await resolver.askProviders(for: host, family, timeout: timeout)
      let addresses = found.records.compactMap { if case .address(let one) = $0.data { one } else { nil } }
      answer.content =
        found.isNameMissing
        ? .nameNotFound
        : addresses.isEmpty ? source.tellsDenials ? .noAddress : .nothing : .addresses(addresses)
      answer.ttl = found.records.map { Int64($0.ttl) }.min()
      answer.isAuthenticated = found.isAuthenticated
    } catch {
      answer.content = .failed(error.attempts.first?.reason ?? error.message)
    }
    return answer
  }
}

extension LocalZones {
  /// Why no provider is asked for a name; nil if they are asked.
  func objection(to host: HostName) -> String? {
    switch route(for: host) {
    case .providers: nil
    case .refused: ".onion names never go to DNS (RFC 7686)"
    case .neverExists: "such a name never exists (RFC 6761), and no server is asked for it"
    case .pinned, .loopback, .system:
      "it is a name of this network or this machine, and no provider is asked for it"
    }
  }
}

extension SourceAnswer.Content {
  fileprivate init(_ content: Answer.Content) {
    switch content {
    case .addresses(let addresses): self = .addresses(addresses)
    case .negative(.nameNotFound): self = .nameNotFound
    case .negative(.noAddress): self = .noAddress
    }
  }
}
