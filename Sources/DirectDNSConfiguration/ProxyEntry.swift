// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The proxy's part of the configuration file: which way names go.
public struct ProxyEntry: Sendable, Hashable {
  enum Key: String, ConfigurationKey { case upstream, upstreamResolves, routes }

  /// Another proxy, through which connections go; nil by default.
  public var upstream: UpstreamProxy?
  /// Which names go which way; no rules by default.
  public var routes = ProxyRoutes()

  /// Creates an entry with the defaults.
  public init() {}

  init(_ node: ConfigurationNode) throws(ConfigurationFault) {
    let object = try node.object(Key.self, "Give an object with upstream, upstreamResolves and routes.")
    let resolves = try object[.upstreamResolves]?.bool()
    if var node = object[.upstream] {
      // It may hold a password.
      node.isSecret = true
      let text = try node.text("Give the URL of a proxy.")
      do throws(DirectDNSError) { upstream = try UpstreamProxy(text, resolvesNames: resolves ?? false) } catch {
        throw ConfigurationFault("\(node.path): \(error.clause).")
      }
    } else if let node = object[.upstreamResolves] {
      throw ConfigurationFault("\(node.path) is there without upstream. Give the URL of a proxy, or remove it.")
    }
    var routes: [ProxyRoutes.Pattern: ProxyRoute] = [:]
    for (key, node) in try object[.routes]?.pairs("Give an object of names and their routes.") ?? [] {
      let pattern: ProxyRoutes.Pattern
      do throws(DirectDNSError) { pattern = try ProxyRoutes.Pattern(key) } catch {
        throw ConfigurationFault("\(node.path): the key is not NAME, =NAME or *: \(error.clause).")
      }
      guard routes.updateValue(try node.choice(), forKey: pattern) == nil else {
        throw ConfigurationFault("\(node.path): \(pattern) is there twice, in two spellings. Keep one of them.")
      }
    }
    self.routes = ProxyRoutes(routes)
  }
}
