// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// One `name=value` of a query, percent-decoded.
public struct QueryItem: Hashable, Sendable {
  /// The part before `=`.
  public let name: String
  /// The part after `=`; empty if there is none.
  public let value: String

  /// Creates an item.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// Reads a query, or the body of a form.
  ///
  /// A `+` stays a plus sign: the providers' parameters are not forms.
  static func items(of query: some StringProtocol) -> [QueryItem] {
    query.split(separator: "&").map { pair in
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return QueryItem(
        name: PercentEncoding.decodedText(halves[0]),
        value: halves.count > 1 ? PercentEncoding.decodedText(halves[1]) : "")
    }
  }
}
