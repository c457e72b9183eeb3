// SPDX-License-Identifier: Apache-2.0
/// Scheme, host and port of a URL: whoever may see a credential, may see it at one origin (RFC 6454).
///
/// A sub-domain, another port, and the same name with a final dot are other origins.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// The scheme.
  public let scheme: WebURL.Scheme
  /// The host, as the URL has it.
  public let host: WebURL.Host
  /// The port that connections go to.
  public let port: UInt16

  /// The origin of a URL.
  public init(_ url: WebURL) {
    scheme = url.scheme
    host = url.host
    port = url.effectivePort
  }

  /// The origin as text, such as `https://a.example` or `http://a.example:8080` (RFC 6454 §6.2).
  public var description: String {
    "\(scheme.rawValue)://\(host)" + (port == scheme.defaultPort ? "" : ":\(port)")
  }
}
