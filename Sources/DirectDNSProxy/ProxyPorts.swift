// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The ports that may be connected to.
public struct ProxyPorts: Sendable, Hashable, CustomStringConvertible {
  /// The ranges, in the order given.
  public let ranges: [ClosedRange<UInt16>]

  /// Takes ranges of ports.
  public init(_ ranges: [ClosedRange<UInt16>]) { self.ranges = ranges }

  /// 80, 443, and from 1024: what the web uses, and not a mail server's 25.
  public static let web = ProxyPorts([80...80, 443...443, 1024...65535])

  /// Reads `80,443,8000-8999`.
  ///
  /// - Parameter text: ports and ranges with commas between them.
  /// - Throws: an error of code `invalidConfiguration` that names the wrong part.
  public init(_ text: String) throws(DirectDNSError) {
    var ranges: [ClosedRange<UInt16>] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        .map { UInt16(port: $0) }
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, first > 0, first <= last else {
        throw DirectDNSError(
          .invalidConfiguration, "\"\(part)\" is neither a port nor a range of ports: write 80,443,8000-8999.")
      }
      ranges.append(first...last)
    }
    self.ranges = ranges
  }

  /// Whether a port may be connected to.
  public func contains(_ port: UInt16) -> Bool { ranges.contains { $0.contains(port) } }

  /// As ``init(_:)`` reads it.
  public var description: String {
    ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
  }
}
