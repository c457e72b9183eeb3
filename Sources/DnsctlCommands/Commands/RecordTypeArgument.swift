// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// Reads the types of `--type`, separated by commas.
enum RecordTypeArgument {
  /// The types that completions offer.
  static let offered = ["A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NS", "PTR", "SOA", "SRV", "SVCB", "TXT"]

  static func read(_ text: String) throws -> [DNSRecordType] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
      guard let type = DNSRecordType(String(word)) else {
        throw ValidationError(
          "\(DirectDNSError.quoted(word)) is not a record type that is known by name. Write one such as MX, or any by its number: TYPE65280."
        )
      }
      guard type.isQueryable else { throw ValidationError("\(type) is not a type that records can be asked for by.") }
      return type
    }
  }
}
