// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Checks everything that a resolver with these settings needs, each thing by itself.
struct Checkup: Sendable {
  let settings: DirectSettings
  let store: Store
  let name: HostName
  let context: CommandContext

  /// What is known of the store before it is read.
  enum Store: Sendable {
    case memory
    /// One that is there, and its path if it is a file.
    case opened(any AnswerStore, path: String?)
    /// There is no file yet at that path: what writes to it makes it.
    case missing(String)
  }

  /// The family that providers and the system's DNS are asked for.
  private var family: IPAddress.Family { settings.resolver.families.contains(.ipv4) ? .ipv4 : .ipv6 }

  /// All findings, in the order in which they are shown.
  func run() async throws(CommandError) -> [Finding] {
    var findings = Finding.variables(context.environment.keys) + Finding.packages(context.packages())
    findings += routes()
    let system = await systemDNS()
    findings.append(system.finding)
    let reports: [ProbeReport]
    do throws(DirectDNSError) {
      let probe = try ProviderProbe(trust: settings.resolver.trust, clock: context.clock)
      let (wall, now) = (context.clock.wallNow, context.clock.now)
      let (found, unreachable) = await probes(probe)
      reports = found
      let jump = context.clock.wallNow - wall - (context.clock.now - now)
      findings.append(.clock(reports, jump: jump))
      findings += reports.map { .probe($0, at: context.clock.wallNow) } + unreachable
    } catch {
      throw CommandError(error)
    }
    if !settings.resolver.providers.isEmpty, !reports.contains(where: { $0.result.error == nil }) {
      let rest = system.isAnswering ? "lookups go to the system's DNS alone" : "no name can be looked up"
      findings.append(.fail("providers", "none answers: \(rest)", "See the lines of the providers."))
    }
    findings.append(await storeFinding())
    return findings
  }

  // MARK: Network

  private func routes() -> [Finding] {
    let (has4, has6) = (context.hasRoute(.ipv4), context.hasRoute(.ipv6))
    return [
      has4
        ? .ok("IPv4", "has a route")
        : has6
          ? .ok("IPv4", "no route: IPv6 alone")
          : .fail("IPv4", "no route", "This machine is on no network."),
      has6
        ? .ok("IPv6", "has a route")
        : has4
          ? .ok("IPv6", "no route: IPv4 comes first") : .fail("IPv6", "no route", "This machine is on no network."),
    ]
  }

  private func systemDNS() async -> (finding: Finding, isAnswering: Bool) {
    guard settings.resolver.usesSystemDNS else { return (.ok("system DNS", "off"), false) }
    let began = context.clock.now
    do throws(ProviderFailure) {
      let answer = try await context.systemSource(settings.systemServers).answer(
        to: name, family: family, timeout: .seconds(3))
      let what =
        switch answer.content {
        case .addresses:
          "\(name) has \(answer.addresses.count == 1 ? "an address" : "\(answer.addresses.count) addresses")"
        case .negative(.nameNotFound): "\(name) does not exist"
        case .negative(.noAddress): "\(name) has no address"
        }
      return (.ok("system DNS", "\(what), \((context.clock.now - began).readable)"), true)
    } catch {
      return (
        .warn(
          "system DNS", "\(error.reason)",
          "There is nothing to fall back on when all providers fail: see /etc/resolv.conf."
        ), false
      )
    }
  }

  // MARK: Providers

  private func probes(_ probe: ProviderProbe) async -> ([ProbeReport], [Finding]) {
    let all = await settings.resolver.reachedProviders.mapAtOnce { configuration -> ([ProbeReport], Finding?) in
      let addresses: [IPAddress]
      switch await self.addresses(of: configuration) {
      case .success(let found): addresses = found
      case .failure(let failure):
        return (
          [],
          .fail(
            configuration.provider.name, "\(configuration.provider.url.host): \(failure.reason)",
            "Give it an address: --bootstrap \(configuration.provider.url.host)=ADDRESS.")
        )
      }
      let reports = await ask(configuration, at: addresses, by: probe)
      return (reports, reports.isEmpty ? .unroutable(configuration.provider) : nil)
    }
    return (all.flatMap(\.0), all.compactMap(\.1))
  }

  /// Asks one address after the other, to stay below a rate limit of a few queries per second.
  private func ask(
    _ configuration: ProviderConfiguration, at addresses: [IPAddress], by probe: ProviderProbe
  ) async -> [ProbeReport] {
    var reports: [ProbeReport] = []
    for address in addresses {
      guard address.family == .ipv4 || address.isLoopback || context.hasRoute(.ipv6) else { continue }
      reports.append(await probe.ask(configuration.provider, at: address, AddressQuestion(name, family)))
    }
    return reports
  }

  private func addresses(of configuration: ProviderConfiguration) async -> Result<[IPAddress], ProviderFailure> {
    switch configuration.provider.url.host {
    case .address(let address): return .success([address])
    case .name:
      guard configuration.bootstrap.isEmpty else { return .success(configuration.bootstrap) }
      let host: HostName
      do throws(DirectDNSError) { host = try HostName(configuration.provider.url.host) } catch {
        return .failure(ProviderFailure(.transport, error.clause))
      }
      return await addresses(of: host)
    }
  }

  /// Asks the system's DNS for both families, one after the other, as lookups do.
  private func addresses(of host: HostName) async -> Result<[IPAddress], ProviderFailure> {
    let system = context.systemSource(settings.systemServers)
    var found: [IPAddress] = []
    var reason = "the system's DNS knows no address"
    for family in IPAddress.Family.allCases {
      do throws(ProviderFailure) {
        // It is common that a system's DNS never answers for one family.
        let timeout = found.isEmpty ? Duration.seconds(3) : .milliseconds(300)
        found += try await system.answer(to: host, family: family, timeout: timeout).addresses
      } catch {
        reason = error.reason
      }
      // A server on this machine often listens on 127.0.0.1 alone, which is all that lookups need.
      if found.contains(where: \.isLoopback) { break }
    }
    return found.isEmpty ? .failure(ProviderFailure(.transport, reason)) : .success(found)
  }

  // MARK: Store

  private func storeFinding() async -> Finding {
    let store: any AnswerStore
    let path: String?
    switch self.store {
    case .memory: return .ok("store", "memory")
    case .missing(let path): return Self.missingStore(path)
    case .opened(let opened, let file):
      store = opened
      path = file
    }
    let began = context.clock.now
    do throws(DirectDNSError) {
      // A read does no harm, and shows whether the store can be opened, reached and understood.
      let found = try await store.read([AddressQuestion(name, family)])
      let what = found.isEmpty ? "can be read" : "knows \(name)"
      if let fault = path.flatMap({ Self.whatIsReadOnly($0) { unsafe access($0, W_OK) == 0 } }) {
        return .warn(
          "store", "\(store.name) \(what), and \(fault) may not be written to",
          "Lookups use what is in it, and keep nothing there: check its owner, its permissions, and who runs what uses it."
        )
      }
      return .ok("store", "\(store.name) \(what), \((context.clock.now - began).readable)")
    } catch {
      return .fail(
        "store", "\(store.name): \(error.message)",
        "Lookups go on without it: repair it, or choose another one by --store.")
    }
  }
}

extension Checkup {
  /// Whether a store that is not there yet could be made by whoever runs this.
  private static func missingStore(_ path: String) -> Finding {
    var folder = path
    repeat { folder = WritableFile.folder(of: folder) } while isMissing(folder)
    guard unsafe access(folder, W_OK | X_OK) == 0 else {
      return .warn(
        "store", "there is none at \(path) yet, and \(folder) may not be written to",
        "Lookups go on without it: check the path, and who runs what uses it.")
    }
    return .ok("store", "there is none at \(path) yet; the first answer makes it")
  }

  /// What of a store's file may not be written to: itself, or its folder, where SQLite's log has to be.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - isWritable: whether a file or folder may be written to.
  /// - Returns: its path; nil if nothing is in the way.
  static func whatIsReadOnly(_ path: String, _ isWritable: (String) -> Bool) -> String? {
    // The log lies beside the file itself, wherever a link to it does.
    let file = realPath(path)
    return [file, WritableFile.folder(of: file)].first { !isWritable($0) }
  }
}
