// SPDX-License-Identifier: Apache-2.0
// Here and public, like `UpstreamProxy`, because the configuration file and the proxy both need it, and neither imports
// the other.

/// Which way a proxy takes to a host.
public enum ProxyRoute: String, Sendable, Hashable, CaseIterable {
  /// It connects to the addresses that the resolver finds.
  case direct
  /// It connects to the addresses that the system's DNS has.
  case system
  /// It asks the upstream proxy.
  case upstream
  /// None: the request is refused.
  case refuse
}

/// The rules by which a proxy chooses its way to a host: the most specific one applies.
///
/// Rules are written `www.example.com` (the name and all names below it), `=www.example.com` (the name only), or `*`
/// (everything that no other rule applies to, including addresses).
public struct ProxyRoutes: Sendable, Hashable {
  /// The hosts that a rule applies to.
  public enum Pattern: Sendable, Hashable, CustomStringConvertible {
    /// That name only.
    case exactly(HostName)
    /// That name and all names below it.
    case under(HostName)
    /// Everything that no other rule applies to.
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
        self = .under(try HostName(suffix: text))
      }
    }

    /// The pattern as it is written.
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

    /// How specific the pattern is: the rule with the greatest rank applies.
    fileprivate var rank: Int {
      switch self {
      // Before every suffix: no name has 512 bytes.
      case .exactly(let name): 512 + name.text.utf8.count
      case .under(let name): 1 + name.text.utf8.count
      case .everything: 0
      }
    }

    fileprivate var name: String {
      switch self {
      case .exactly(let name), .under(let name): name.text
      case .everything: ""
      }
    }
  }

  /// A rule.
  public struct Rule: Sendable, Hashable, CustomStringConvertible {
    /// The hosts that it applies to.
    public let pattern: Pattern
    /// The way to them.
    public let route: ProxyRoute

    /// `NAME=ROUTE`.
    public var description: String { "\(pattern)=\(route.rawValue)" }

    /// Whether it stands before another one: the more specific one does, and of two alike the one whose name does.
    fileprivate func precedes(_ other: Rule) -> Bool {
      (other.pattern.rank, pattern.name) < (pattern.rank, other.pattern.name)
    }
  }

  /// The rules, the most specific one first; there is at most one for each pattern.
  public private(set) var rules: [Rule] = []

  /// Creates an empty set of rules.
  public init() {}

  /// Creates the rules of a table; ``set(_:for:)`` goes through all rules for each.
  package init(_ routes: [Pattern: ProxyRoute]) {
    rules = routes.map { Rule(pattern: $0.key, route: $0.value) }.sorted { $0.precedes($1) }
  }

  /// Adds a rule; it replaces one with the same pattern.
  ///
  /// - Parameters:
  ///   - route: the way to the hosts.
  ///   - pattern: the hosts that the rule applies to.
  public mutating func set(_ route: ProxyRoute, for pattern: Pattern) {
    rules.removeAll { $0.pattern == pattern }
    let rule = Rule(pattern: pattern, route: route)
    rules.insert(rule, at: rules.firstIndex { rule.precedes($0) } ?? rules.endIndex)
  }

  /// The way to a host; nil if no rule applies to it, or only `*` does.
  public func route(for host: WebURL.Host) -> ProxyRoute? {
    rules.first { $0.pattern != .everything && $0.pattern.holds(host) }?.route
  }

  /// The way of the rule `*`; nil without one.
  public var otherwise: ProxyRoute? { rules.last { $0.pattern == .everything }?.route }
}
