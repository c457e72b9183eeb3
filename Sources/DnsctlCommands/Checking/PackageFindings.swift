// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

extension Finding {
  /// What the versions of the C libraries mean: a pure function.
  static func packages(_ packages: SystemPackages) -> [Finding] {
    [curl(packages), cares(packages), .ok("libidn2", packages.libidn2), .ok("libpsl", packages.libpsl)]
  }

  private static func curl(_ packages: SystemPackages) -> Finding {
    let parts = [packages.curl, packages.tls ?? "no TLS", packages.http2.map { "nghttp2 \($0)" } ?? "no HTTP/2"]
    let detail = parts.joined(separator: ", ")
    guard packages.tls != nil else {
      return .fail("libcurl", detail, "Install a libcurl with TLS: Debian's libcurl4, or build one with OpenSSL.")
    }
    guard let version = PackageVersion(packages.curl) else { return .ok("libcurl", detail) }
    if version == PackageVersion(8, 11, 1) {
      return .fail(
        "libcurl", detail, "8.11.1 closes other people's descriptors (CVE-2025-0665): install another version.")
    }
    guard packages.http2 != nil else {
      return .warn("libcurl", detail, "Each query takes a connection of its own: install a libcurl with HTTP/2.")
    }
    return .ok("libcurl", detail)
  }

  private static func cares(_ packages: SystemPackages) -> Finding {
    let version = PackageVersion(packages.cAres)
    if let version, version >= PackageVersion(1, 32, 3), version < PackageVersion(1, 34, 5) {
      return .warn(
        "c-ares", packages.cAres, "It may use memory that was freed (CVE-2025-31498): install 1.34.5 or later.")
    }
    return .ok("c-ares", packages.cAres)
  }
}

/// A version of three numbers.
private struct PackageVersion: Sendable, Hashable, Comparable {
  let parts: [Int]

  init(_ major: Int, _ minor: Int, _ patch: Int) { parts = [major, minor, patch] }

  /// Reads the numbers that a text begins with; nil if there are none.
  init?(_ text: String) {
    let numbers = text.prefix { $0 == "." || ("0"..."9").contains($0) }.split(separator: ".").compactMap { Int($0) }
    guard numbers.count >= 2 else { return nil }
    self.init(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
  }

  static func < (left: Self, right: Self) -> Bool { left.parts.lexicographicallyPrecedes(right.parts) }
}
