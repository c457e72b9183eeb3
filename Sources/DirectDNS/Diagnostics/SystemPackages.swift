// SPDX-License-Identifier: Apache-2.0
/// The versions of the C libraries that this process is linked with, to check an installation.
public struct SystemPackages: Sendable, Hashable {
  /// libcurl's version, such as `7.88.1`.
  public var curl: String
  /// The TLS library that libcurl uses, such as `OpenSSL/3.0.17`; nil if it has none.
  public var tls: String?
  /// The version of nghttp2 that libcurl uses; nil if it has no HTTP/2.
  public var http2: String?
  /// c-ares's version.
  public var cAres: String
  /// libidn2's version.
  public var libidn2: String
  /// libpsl's version.
  public var libpsl: String

  /// Asks the libraries.
  public init() {
    let version = CurlVersion()
    curl = version.number
    tls = version.tls
    http2 = version.http2
    cAres = CaresLookup.version
    libidn2 = IDNA.version
    libpsl = PublicSuffix.version
  }
}
