// SPDX-License-Identifier: Apache-2.0
/// The C libraries that this process is linked with, and whether the machine's network has a way out: what a check of
/// an installation looks at.
public struct SystemPackages: Sendable, Hashable {
  /// libcurl's version, such as `7.88.1`.
  public var curl: String
  /// The TLS library that libcurl uses, such as `OpenSSL/3.0.17`; nil if it has none.
  public var tls: String?
  /// The version of nghttp2 that libcurl uses; nil if it speaks no HTTP/2.
  public var http2: String?
  /// c-ares's version.
  public var cares: String
  /// libidn2's version.
  public var idn: String
  /// libpsl's version.
  public var psl: String

  /// Asks the libraries.
  public init() {
    let version = CurlVersion()
    curl = version.number
    tls = version.tls
    http2 = version.http2
    cares = CaresLookup.version
    idn = IDNA.version
    psl = PublicSuffix.version
  }

  /// Whether a family has a route: without one no address of it can be connected to.
  ///
  /// Nothing is sent.
  public static func hasRoute(for family: IPAddress.Family) -> Bool { Routes.exists(for: family) }
}
