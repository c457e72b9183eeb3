// SPDX-License-Identifier: Apache-2.0
// Here and public, as `UpstreamProxy` is: the configuration file and the proxy both have them, and neither knows the other.

/// Which way a proxy sends what is for a name.
public enum ProxyRoute: String, Sendable, Hashable, CaseIterable {
  /// To the addresses that the resolver finds.
  case direct
  /// To the addresses that the system's DNS has.
  case system
  /// Through the upstream proxy.
  case upstream
  /// Nowhere.
  case refuse
}

/// The ways that names go through a proxy: the most specific rule has a name.
///
/// Rules are written `www.example.com` (the name and all below it), `=www.example.com` (the name alone) and `*` (all that
/// no other rule has, addresses among them).
public struct ProxyRoutes: Sendable, Hashable {
  /// Whom a rule is for.
  public enum Pattern: Sendable, Hashable, CustomStringConvertible {
    /// That name alone.
    case exactly(HostName)
    /// That name and all below it.
    case under(HostName)
    /// Whatever no other rule has.
    case everything

    /// Reads `NAME`, `=NAME` or `*`.
    ///
    /// - Parameter text: the text; a dot before a name makes no difference.
    /// - Throws: `invalidName` with the reason.
    public init(_ text: String) throws(DirectDNSError) {
      if text == "*" {
        self = .everything
      } else if text.hasPrefix("=") {
        self = .exactly(try HostName(String(text.dropFirst())))
      } else {
        self = .under(try HostName(text.hasPrefix(".") ? String(text.dropFirst()) : text))
      }
    }

    /// As it is written.
    public var description: String {
      switch self {
      case .exactly(let name): "=\(name)"
      case .under(let name): name.text
      case .everything: "*"
      }
    }

    fileprivate func holds(_ host: WebURL.Host) -> Bool {
      switch self {
      case .exactly(let name): (try? HostName(host)) == name
      case .under(let name): host.hasSuffix(name)
      case .everything: true
      }
    }

    /// The one with the greater rank is the more specific one.
    fileprivate var rank: Int {
      switch self {
      case .exactly(let name): 512 + name.text.utf8.count
      case .under(let name): 1 + name.text.utf8.count
      case .everything: 0
      }
    }
  }

  /// A rule.
  public struct Rule: Sendable, Hashable, CustomStringConvertible {
    /// Whom it is for.
    public let pattern: Pattern
    /// Which way they go.
    public let route: ProxyRoute

    /// `NAME=ROUTE`.
    public var description: String { "\(pattern)=\(route.rawValue)" }
  }

  /// The rules, the most specific first; at most one for each pattern.
  public private(set) var rules: [Rule] = []

  /// Creates rules that say nothing.
  public init() {}

  /// Sets a rule, in place of one for the same names.
  public mutating func set(_ pattern: Pattern, _ route: ProxyRoute) {
    rules.removeAll { $0.pattern == pattern }
    let place = rules.firstIndex { $0.pattern.rank < pattern.rank } ?? rules.endIndex
    rules.insert(Rule(pattern: pattern, route: route), at: place)
  }

  /// Which way a host goes; nil where no rule but perhaps `*` has it.
  public func route(for host: WebURL.Host) -> ProxyRoute? {
    rules.first { $0.pattern != .everything && $0.pattern.holds(host) }?.route
  }

  /// What `*` says.
  public var otherwise: ProxyRoute? { rules.last { $0.pattern == .everything }?.route }
}
