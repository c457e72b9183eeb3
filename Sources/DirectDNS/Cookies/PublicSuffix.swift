// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSPSL

/// The public suffix list, through libpsl: the names under which anybody can register one.
///
/// libpsl reads the list of the system's package (Debian: `publicsuffix`) if that is newer than its own, which takes 30
/// to 80 µs on first use. If it finds no list at all, every name counts as a public suffix: then cookies are host-only.
enum PublicSuffix {
  // Kept as bits, since a pointer is not `Sendable`; the list that it points to never changes and is never freed.
  private static let list = unsafe UInt(bitPattern: psl_latest(nil))

  /// libpsl's version.
  static var version: String { unsafe String(cString: psl_get_version()) }

  /// Whether a name is a public suffix; a name without a rule is one if it has a single label.
  static func contains(_ name: HostName) -> Bool {
    unsafe psl_is_public_suffix(OpaquePointer(bitPattern: list), name.text) == 1
  }

  /// The public suffix of a name and one label more; nil when the name is itself a public suffix.
  static func registrableDomain(of name: HostName) -> HostName? {
    unsafe name.text.withCString { text in
      // libpsl answers with a pointer into the text.
      guard let domain = unsafe psl_registrable_domain(OpaquePointer(bitPattern: list), text) else { return nil }
      return unsafe HostName(canonical: String(cString: domain))
    }
  }
}

extension HostName {
  /// The name that its owner registered: the public suffix and one label more, `example.co.uk` for
  /// `www.example.co.uk`.
  ///
  /// By the public suffix list of the system; nil when the name is itself a public suffix, as `co.uk` and every
  /// single label are. It costs about 1 µs.
  public var registrableDomain: HostName? { PublicSuffix.registrableDomain(of: self) }
}
