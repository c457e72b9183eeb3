// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The domains in which a name of one label is looked up, as resolv.conf(5) has it.
///
/// They are searched here and not by c-ares, which either takes each family from another domain, or waits for both
/// families in each.
struct SearchList: Sendable, Hashable {
  /// Without final dots; the root is empty.
  private var domains: [String]
  /// Whether a name without a dot is looked up as it is before the domains are searched.
  private var isNameFirst: Bool

  /// Reads the words of a resolv.conf, and what stands in place of them.
  ///
  /// - Parameters:
  ///   - resolvConf: the text of the file.
  ///   - environment: `LOCALDOMAIN` takes the place of the file's domains, and `RES_OPTIONS` adds to its options.
  ///   - hostName: this machine's name, whose domain is searched if none is named.
  init(resolvConf: String, environment: [String: String] = [:], hostName: String = "") {
    var named: [Substring]?
    var options: [Substring] = []
    for line in resolvConf.split(whereSeparator: \.isNewline) {
      let words = Self.words(line.prefix { $0 != "#" && $0 != ";" })
      guard let keyword = words.first, words.count > 1 else { continue }
      switch keyword {
      // Of several lines the last one counts.
      case "search": named = Array(words.dropFirst())
      case "domain": named = [words[1]]
      case "options": options += words.dropFirst()
      default: break
      }
    }
    if let local = environment["LOCALDOMAIN"] { named = Self.words(local[...]) }
    options += Self.words((environment["RES_OPTIONS"] ?? "")[...])
    let own = hostName.split(separator: ".", maxSplits: 1).dropFirst()
    domains = (named ?? Array(own)).map { domain in
      String(domain.reversed().drop { $0 == "." }.reversed())
    }
    isNameFirst = options.last { $0.hasPrefix("ndots:") } == "ndots:0"
  }

  /// Reads a resolv.conf; one that cannot be read is an empty one.
  init(ofFile path: String) {
    let bytes = try? ReadableFile(path, waits: false).readToEnd(limit: 1 << 20)
    var hostName = [CChar](repeating: 0, count: 256)
    // One that has no room is cut off, and may have no zero at its end.
    if unsafe gethostname(&hostName, hostName.count - 1) != 0 { hostName = [] }
    self.init(
      resolvConf: String(decoding: bytes ?? [], as: UTF8.self), environment: ProcessInfo.processInfo.environment,
      hostName: String(decoding: hostName.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self))
  }

  private static func words(_ text: Substring) -> [Substring] { text.split { $0 == " " || $0 == "\t" } }

  /// The names that stand for a single label, in the order of asking; a domain that makes no name is left out.
  func names(for host: HostName) -> [HostName] {
    var names = isNameFirst ? [host] : []
    for domain in domains {
      guard let name = try? domain.isEmpty ? host : HostName("\(host.text).\(domain)") else { continue }
      if !names.contains(name) { names.append(name) }
    }
    return names.contains(host) ? names : names + [host]
  }
}

/// The way of a lookup through the names that stand for what it looks up: a value, which outcomes change.
///
/// The first name that exists is the one, so that both families come from one place: getaddrinfo(3) of glibc does the
/// same. The family that is wanted is asked for alone, since there are servers that never answer queries for AAAA. Where
/// a name has nothing of it, the other family says whether the name is the one.
///
/// A domain whose servers fail is passed over, as by glibc, or one that is broken would make all the others useless. If no
/// other one has the name, the outcome is the failure and no denial. Silence ends the walk, since it leaves no time.
struct SearchWalk: Sendable, Hashable {
  private let wanted: IPAddress.Family
  private var left: ArraySlice<HostName>
  private var asksForOther = false
  /// Whether one of the names exists without addresses.
  private var exists = false
  /// How servers have failed one of the names, and how they have failed the present one.
  private var failure: CaresError?
  private var ownFailure: CaresError?

  /// What is to be asked for.
  private(set) var name: HostName
  var family: IPAddress.Family { asksForOther == (wanted == .ipv4) ? .ipv6 : .ipv4 }

  init(_ name: HostName, _ others: ArraySlice<HostName> = [], _ family: IPAddress.Family) {
    self.name = name
    left = others
    wanted = family
  }

  /// Goes on after what ``name`` has of ``family``.
  ///
  /// - Returns: the lookup's outcome; nil if there is more to be asked for.
  mutating func next(after outcome: CaresLookup.Outcome) -> CaresLookup.Outcome? {
    switch outcome {
    case .success: return asksForOther ? .failure(ownFailure ?? .noAddress) : outcome
    case .failure(.noAddress):
      exists = true
      if turnsToOther() { return nil }
    case .failure(.nameNotFound): break
    case .failure(let error) where error.isOfServers:
      failure = failure ?? error
      ownFailure = error
      if turnsToOther() { return nil }
    case .failure: return outcome
    }
    guard let next = left.popFirst() else { return .failure(failure ?? (exists ? .noAddress : .nameNotFound)) }
    (name, asksForOther, ownFailure) = (next, false, nil)
    return nil
  }

  /// Asks for the other family of the same name, if that decides anything.
  private mutating func turnsToOther() -> Bool {
    guard !asksForOther, !left.isEmpty else { return false }
    asksForOther = true
    return true
  }
}
