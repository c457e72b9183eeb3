// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// Values that tests name often.
///
/// A text that is no name or no address is a mistake in the test.
enum Sample {
  static func name(_ text: String) -> HostName {
    do { return try HostName(text) } catch { preconditionFailure("\(text): \(error)") }
  }

  static func address(_ text: String) -> IPAddress {
    guard let address = IPAddress(text) else { preconditionFailure("\(text) is not an address") }
    return address
  }

  static func addresses(_ texts: String...) -> [IPAddress] { texts.map(address) }

  static func url(_ text: String) -> WebURL {
    do { return try WebURL(text) } catch { preconditionFailure("\(text): \(error)") }
  }

  /// The instant so many seconds after the origin.
  static func at(_ seconds: Double) -> ResolverInstant {
    ResolverInstant(nanoseconds: Int64((seconds * 1e9).rounded()))
  }

  static func life(_ asked: Double, _ expires: Double) -> CacheLife {
    CacheLife(askedAt: at(asked).nanoseconds, expireAt: at(expires).nanoseconds)
  }

  /// A name's worst: 253 octets in labels of 63.
  static func longest(_ letter: Character) -> HostName {
    let label = String(repeating: letter, count: 63)
    return name([label, label, label, String(repeating: letter, count: 61)].joined(separator: "."))
  }
}

extension Answer {
  /// Addresses of one family with a lifetime in seconds.
  static func addresses(_ texts: String..., ttl: UInt32 = 300, alias: String? = nil) -> Answer {
    Answer(.addresses(texts.map(Sample.address)), ttl: ttl, canonicalName: alias.map(Sample.name))
  }

  /// A negative answer; without a lifetime it came without an SOA.
  static func negative(_ kind: Negative, ttl: UInt32? = 60) -> Answer { Answer(.negative(kind), ttl: ttl) }
}

extension ResolverInstant {
  /// One nanosecond earlier.
  var before: ResolverInstant { ResolverInstant(nanoseconds: nanoseconds - 1) }
  /// One nanosecond later.
  var after: ResolverInstant { ResolverInstant(nanoseconds: nanoseconds + 1) }
}
